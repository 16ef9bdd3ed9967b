package engine

import (
	"os"
	"strings"
)

// kernelRelease is what uname -r says (proc_sys_kernel(5), osrelease), empty where it cannot be read.
func kernelRelease() string {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
