package process

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// otherUser says in the identity of a backend without a launcher whether its commands can run as another user. The limits of a held process
// with other ids are set from outside only by who has CAP_SYS_RESOURCE (prlimit(2)); root of a container often lacks it.
func otherUser(id *runtime.Identity) error {
	if os.Geteuid() != 0 {
		return nil // becoming somebody else is refused where it is tried
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return fmt.Errorf("reading our own capabilities: %w", err)
	}
	if data[0].Effective&(1<<unix.CAP_SYS_RESOURCE) == 0 {
		id.Absent = append(id.Absent, runtime.Absence{
			Feature: "user.id", Why: "root without CAP_SYS_RESOURCE cannot set the limits of another user's process",
			Cure: "give the controller CAP_SYS_RESOURCE, or leave the user alone",
		})
	}
	return nil
}
