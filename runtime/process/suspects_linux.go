package process

import (
	"os"
	"strings"

	"github.com/sbxkit/sbxkit/runtime/attest"
	"github.com/sbxkit/sbxkit/runtime/cgroup"
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
		if why, cure, ok := around.refusesNamespaces(); ok {
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

// host is what is looked at of this machine to say why it refuses something. What it refuses is found by launching.
type host struct {
	uid int
	// setting gives the text of a file below /proc/sys, without its line break; empty where it cannot be read.
	setting func(path string) string
	// filtered: a seccomp filter stands around this process.
	filtered func() bool
	groups   func() (*cgroup.Host, error)
}

// around is this host; a test puts another one in its place.
var around = host{
	uid: os.Geteuid(),
	setting: func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(b))
	},
	filtered: func() bool {
		st, err := attest.ReadStatus(os.Getpid())
		return err == nil && st.Seccomp == 2
	},
	groups: cgroup.Find,
}

// refusesNamespaces says by which of its settings a host refuses user namespaces, if by any.
func (h *host) refusesNamespaces() (why, cure string, ok bool) {
	for _, s := range []struct {
		path, refused, why, cure string
		ordinary                 bool // the restriction is on ordinary users
	}{
		{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1",
			"AppArmor restricts user namespaces of programs without a profile (Ubuntu 23.10 and later)",
			"give bwrap a profile with \"userns,\" (/etc/apparmor.d/bwrap, as the package apparmor-profiles has it), or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", true},
		{"/proc/sys/kernel/unprivileged_userns_clone", "0", "this kernel refuses user namespaces to ordinary users",
			"sysctl -w kernel.unprivileged_userns_clone=1", true},
		{"/proc/sys/user/max_user_namespaces", "0", "the number of user namespaces is limited to none",
			"sysctl -w user.max_user_namespaces=10000", false},
	} {
		if h.uid == 0 && s.ordinary {
			continue
		}
		if h.setting(s.path) == s.refused {
			return s.why, s.cure, true
		}
	}
	return "", "", false
}

// refusesAll says why a host lets no sandbox be made at all.
func (h *host) refusesAll() (why, cure string) {
	if why, cure, ok := h.refusesNamespaces(); ok {
		return why, cure
	}
	if h.filtered() {
		return "a seccomp filter stands around this process, as in a container, and may refuse new namespaces and mounts",
			"start the outer container with --security-opt seccomp=unconfined, or with a filter that allows clone, unshare, mount, umount2 and pivot_root; or use an engine's backend from inside it"
	}
	return "none of the settings that are known to refuse it is in force", "try bwrap --unshare-user --ro-bind / / true by hand, and look for the refusal in the kernel's log (dmesg, journalctl -k)"
}
