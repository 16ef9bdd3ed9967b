package process

import (
	"os"
	"strings"
)

// suspect is something a host may refuse to a sandbox. Which one it is, is found by launching without it; what is said of it is found by
// looking at the host.
type suspect struct {
	feature string
	explain func() (why, cure string)
}

var suspects = []suspect{
	{"mount.proc", func() (string, string) {
		return "a new /proc cannot be mounted; we are inside a container whose own /proc is masked",
			"start the outer container with --security-opt systempaths=unconfined (docker, podman: --security-opt unmask=ALL), or leave the proc mount out of the policy"
	}},
	{"network.none", func() (string, string) {
		return "a network namespace with a loopback of its own cannot be made",
			"allow it in the outer sandbox (CAP_NET_ADMIN in the user namespace), or accept network: host with a because"
	}},
	{"hardening.user-namespace", func() (string, string) {
		if why, cure, ok := userNamespacesRefused(); ok {
			return why, cure
		}
		return "a user namespace cannot be made", "check sysctl user.max_user_namespaces and the security modules of this host"
	}},
	{"hardening.user-namespace-off", func() (string, string) {
		return "user namespaces cannot be forbidden inside", "/proc/sys/user must be writable in the sandbox's first namespace; leave the option out where the host is itself a container"
	}},
	{"hardening.cgroup-namespace", func() (string, string) {
		return "a cgroup namespace cannot be made", "leave hardening.cgroup-namespace out, or use a kernel with CONFIG_CGROUPS"
	}},
	{"hardening.seccomp", func() (string, string) {
		return "a seccomp filter cannot be installed", "use a kernel with CONFIG_SECCOMP_FILTER"
	}},
	{"hardening.capabilities", func() (string, string) {
		return "capabilities cannot be dropped", "run as an ordinary user, or allow CAP_SETPCAP"
	}},
	{"hardening.ipc-namespace", func() (string, string) { return "an IPC namespace cannot be made", "use a kernel with CONFIG_IPC_NS" }},
	{"hardening.uts-namespace", func() (string, string) { return "a UTS namespace cannot be made", "use a kernel with CONFIG_UTS_NS" }},
	{"hardening.pid-namespace", func() (string, string) {
		return "a pid namespace cannot be made", "check sysctl user.max_pid_namespaces and the seccomp filter around this process"
	}},
	{"mount.dev", func() (string, string) {
		return "a /dev of its own cannot be made", "allow the mounting of devpts and tmpfs in the outer sandbox"
	}},
}

// userNamespacesRefused looks for the settings by which a host refuses user namespaces to an ordinary user.
func userNamespacesRefused() (why, cure string, ok bool) {
	for _, s := range []struct{ path, refused, why, cure string }{
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
			"AppArmor restricts user namespaces of programs without a profile (Ubuntu 23.10 and later)",
			"give bwrap a profile with \"userns,\" (/etc/apparmor.d/bwrap, as the package apparmor-profiles has it), or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "this kernel refuses user namespaces to ordinary users",
			"sysctl -w kernel.unprivileged_userns_clone=1"},
		{"/proc/sys/user/max_user_namespaces", "0", "the number of user namespaces is limited to none",
			"sysctl -w user.max_user_namespaces=10000"},
	} {
		if os.Geteuid() == 0 && s.refused == "1" {
			continue // the restriction is on the unprivileged
		}
		b, err := os.ReadFile(s.path)
		if err == nil && strings.TrimSpace(string(b)) == s.refused {
			return s.why, s.cure, true
		}
	}
	return "", "", false
}
