package process

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
	"github.com/sbxkit/sbxkit/runtime/cgroup"
)

func mode(m uint32) fs.FileMode { return fs.FileMode(m) & fs.ModePerm }

// hardeningClaims are what a hardening option claims, as a person reads it.
var hardeningClaims = []struct{ name, value string }{
	{"hardening.no-new-privileges", "set"},
	{"hardening.capabilities", "every set empty"},
	{"hardening.pid-namespace", "its own"},
	{"hardening.ipc-namespace", "its own"},
	{"hardening.uts-namespace", "its own"},
	{"hardening.user-namespace", "its own"},
	{"hardening.cgroup-namespace", "its own"},
	{"hardening.user-namespace-off", "no further user namespace"},
	{"hardening.read-only-root", "the root is read-only"},
	{"hardening.new-session", "its own session, without our terminal"},
	{"hardening.parent-death", "ends with its parent"},
	{"hardening.init", "a reaping first process"},
	{"hardening.seccomp", "a filter is in force"},
	{"hardening.apparmor", "the profile is in force"},
	{"hardening.landlock", "restricted by the kernel"},
	{"hardening.masked-paths", "kernel files are masked"},
}

// claims lists what a plan promises; asked is the request before the planner touched it.
func (b *Backend) claims(r, asked *runtime.Request) []runtime.Claim {
	var out []runtime.Claim
	add := func(name, value string, required bool) {
		out = append(out, runtime.Claim{Name: name, Value: value, Required: required})
	}
	for _, h := range hardeningClaims {
		if asked.Hardening.Has(h.name) {
			add(h.name, h.value, slices.Contains(r.Required, h.name))
		}
	}
	switch r.Network.Mode {
	case runtime.NetworkNone:
		add("network.none", "its own network namespace with nothing but loopback", true)
	case runtime.NetworkEgress:
		add("network.egress", "its own network namespace with nothing but loopback; the way out is "+r.Network.Socket, true)
	}
	for _, l := range attest.ResourceLimits {
		if v := l.Of(&r.Limits); v != nil {
			add(l.Name, fmt.Sprintf("soft %d, hard %d", v.Soft, v.Hard), true)
		}
	}
	for _, n := range cgroup.Needed(&r.Limits) {
		add(n, cgroup.Claim(&r.Limits, n), true)
	}
	if r.User.Kind == runtime.UserID || r.User.Kind == runtime.UserCaller {
		add("user."+string(r.User.Kind), fmt.Sprintf("%d:%d", r.User.UID, r.User.GID), true)
	}
	if b.def.Gate == GateBlockFD {
		add(attest.ClaimMounts, fmt.Sprintf("%d mounts, each with its planned access, and no other", len(r.Mounts)), true)
	}
	if r.Dir != "" {
		add("workdir", r.Dir, true)
	}
	names := make([]string, len(r.Env))
	for i, v := range r.Env {
		names[i] = v.Name
	}
	slices.Sort(names)
	add("environment", fmt.Sprintf("exactly %d variables: %s", len(names), strings.Join(names, " ")), true)
	numbers := make([]string, 0, 4)
	for _, n := range commandDescriptors(r, b.def.Gate) {
		numbers = append(numbers, fmt.Sprint(n))
	}
	add(attest.ClaimDescriptors, "exactly "+strings.Join(numbers, " "), true)
	add("command", r.Command[0], true)
	return out
}

// commandDescriptors are the descriptors that the command itself has open at its start, in order.
func commandDescriptors(r *runtime.Request, g Gate) []int {
	out := []int{0, 1, 2}
	for _, n := range []int{r.Descriptors.Heartbeat, r.Descriptors.Notify} {
		if n > 0 {
			out = append(out, n)
		}
	}
	for _, c := range r.Credentials {
		if c.Descriptor > 0 {
			out = append(out, c.Descriptor)
		}
	}
	if g == GateExec {
		for _, m := range r.Mounts {
			if m.Descriptor > 0 {
				out = append(out, m.Descriptor)
			}
		}
	}
	slices.Sort(out)
	return out
}
