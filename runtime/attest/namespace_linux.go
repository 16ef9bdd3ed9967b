package attest

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// namespace measures that the process is in a namespace of its own kind.
func namespace(kind string) func(*Subject, runtime.Claim) verdict {
	return func(s *Subject, _ runtime.Claim) verdict {
		other, theirs, err := OwnNamespace(s.pid, kind)
		if err != nil {
			return unknown(err)
		}
		return hold(other, "ns/%s: %s, ours %s", kind, theirs, ours()[kind])
	}
}

// userNamespaceOff cannot be read from outside: the count that forbids it belongs to the namespace and is shown to its members only. What
// can be read is that the process stands in a namespace whose parent is not ours, which is how a launcher keeps the command from
// lifting the count. That none can be made the launcher finds out itself before it goes on (bwrap(1), --disable-userns).
func (s *Subject) userNamespaceOff(runtime.Claim) verdict {
	fd, err := unix.Open(s.base+"/ns/user", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return unknown(err)
	}
	defer unix.Close(fd)
	parent, err := unix.IoctlRetInt(fd, unix.NS_GET_PARENT)
	if err != nil {
		return broken("its user namespace has no parent that we may see (%v): it is ours", err)
	}
	defer unix.Close(parent)
	var st unix.Stat_t
	if err := unix.Fstat(parent, &st); err != nil {
		return unknown(err)
	}
	above := fmt.Sprintf("user:[%d]", st.Ino)
	if above == ours()["user"] {
		return broken("ns/user: its parent is our own user namespace %s, in which more can be made", above)
	}
	return verdict{runtime.MeasuredBehaves, fmt.Sprintf("ns/user: nested in %s, not ours; the launcher tries to make one itself and gives up where it can", above)}
}

// newSession holds where the process is in another session than this program, and has no terminal of ours.
func (s *Subject) newSession(runtime.Claim) verdict {
	st, err := ReadStat(s.pid)
	if err != nil {
		return unknown(err)
	}
	mine, err := unix.Getsid(0)
	if err != nil {
		return unknown(err)
	}
	if st.Session == mine {
		return broken("stat: session %d, which is ours", st.Session)
	}
	if st.Terminal != 0 && s.expect.Request.Terminal == nil {
		return broken("stat: session %d has the terminal %d:%d", st.Session, unix.Major(uint64(st.Terminal)), unix.Minor(uint64(st.Terminal)))
	}
	return holds("stat: session %d, terminal %d", st.Session, st.Terminal)
}
