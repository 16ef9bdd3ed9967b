package engine

import (
	"os"
	"strings"
)

// bootID is the kernel's random identity of this boot (proc_sys_kernel(5), random/boot_id), empty where it cannot be read.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// kernelRelease is what uname -r says (proc_sys_kernel(5), osrelease), empty where it cannot be read.
func kernelRelease() string {
	b, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
