package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"

	"github.com/sbxkit/sbxkit/runtime"
)

// readBack compares the engine's record of the created container with what was asked: engines drop what they do not know or cannot do,
// Docker with a warning at most and Podman's compatible API without one. A mismatch of what is required refuses the run.
func (r *resources) readBack(ctx context.Context) error {
	i, err := r.link.inspect(ctx, r.token.Name)
	if err != nil {
		return r.refusal(err, "reading back the container %s", r.token.Name)
	}
	if i.ContainerJSONBase == nil || i.HostConfig == nil || i.Config == nil {
		return runtime.Fail(runtime.Setup, "%s describes the container without its configuration", r.plan.Identity)
	}
	var broken []runtime.Guarantee
	for _, c := range r.plan.Claims {
		g := measureRecord(i, r.plan, c)
		r.readback = append(r.readback, g)
		if c.Required && g.Measured == runtime.MeasuredBroken {
			broken = append(broken, g)
		}
	}
	if err := refuseBroken(broken, "%s did not accept what was asked", r.plan.Identity); err != nil {
		return err
	}
	return r.checked(i)
}

// refuseBroken makes the Failure of required guarantees that do not hold; nil for none.
func refuseBroken(broken []runtime.Guarantee, format string, args ...any) error {
	if len(broken) == 0 {
		return nil
	}
	var what []string
	for _, g := range broken {
		what = append(what, fmt.Sprintf("%s (%s): %s", g.Name, g.Claimed, g.Evidence))
	}
	return runtime.Fail(runtime.Setup, "%s: %s", fmt.Sprintf(format, args...), strings.Join(what, "; ")).About(broken[0].Name).
		WithCure("leave it out of the policy, or use an engine or host that can do it")
}

// measureRecord looks one claim up in the engine's record.
func measureRecord(i *container.InspectResponse, p *runtime.Plan, c runtime.Claim) runtime.Guarantee {
	g := runtime.Guarantee{Name: c.Name, Claimed: c.Value, Required: c.Required, When: runtime.WhenCreated, Measured: runtime.MeasuredClaimed, Evidence: "the engine keeps no record of it"}
	look, ok := records[c.Name]
	if !ok && rlimitNames[c.Name] != "" {
		look, ok = ulimitRecord(c.Name), true
	}
	if !ok {
		return g
	}
	holds, evidence := look(record{i.HostConfig, i.Config, i, p})
	g.Evidence = "engine record: " + evidence
	g.Measured = runtime.MeasuredReadback
	if !holds {
		g.Measured = runtime.MeasuredBroken
	}
	return g
}

// record is what one look has before it.
type record struct {
	host   *container.HostConfig
	config *container.Config
	all    *container.InspectResponse
	plan   *runtime.Plan
}

func is[T comparable](name string, have, want T) (bool, string) {
	return have == want, fmt.Sprintf("%s %v", name, have)
}

// amount is a limit that the engine records as one number.
func amount(name string, have func(record) int64, want func(*runtime.Limits) uint64) func(record) (bool, string) {
	return func(r record) (bool, string) { return is(name, have(r), runtime.Signed(want(&r.plan.Request.Limits))) }
}

// records has, for each claim an engine keeps a record of, where it stands.
var records = map[string]func(record) (bool, string){
	"limits.memory":    amount("Memory", func(r record) int64 { return r.host.Memory }, func(l *runtime.Limits) uint64 { return l.Memory.Hard }),
	"limits.swap":      amount("MemorySwap", func(r record) int64 { return r.host.MemorySwap }, (*runtime.Limits).SwapTotal),
	"limits.cpus":      amount("NanoCpus", func(r record) int64 { return r.host.NanoCPUs }, func(l *runtime.Limits) uint64 { return l.CPUs.Hard }),
	"limits.shm":       amount("ShmSize", func(r record) int64 { return r.host.ShmSize }, func(l *runtime.Limits) uint64 { return l.Shm.Hard }),
	"limits.processes": amount("PidsLimit", pidsLimit, func(l *runtime.Limits) uint64 { return l.Processes.Hard }),
	"limits.cpuset": func(r record) (bool, string) {
		return is("CpusetCpus", r.host.CpusetCpus, r.plan.Request.Limits.CPUSet)
	},
	"hardening.capabilities": func(r record) (bool, string) {
		// Podman lists each of its default capabilities where Docker keeps ALL.
		dropped := slices.Contains(r.host.CapDrop, "ALL") || len(r.host.CapDrop) >= podmanCapabilities
		return dropped && len(r.host.CapAdd) == 0, fmt.Sprintf("CapDrop %v, CapAdd %v", r.host.CapDrop, r.host.CapAdd)
	},
	"hardening.no-new-privileges": func(r record) (bool, string) {
		return slices.ContainsFunc(r.host.SecurityOpt, func(o string) bool {
			return o == "no-new-privileges" || o == "no-new-privileges:true" || o == "no-new-privileges=true"
		}), fmt.Sprintf("SecurityOpt %v", r.host.SecurityOpt)
	},
	"hardening.apparmor": func(r record) (bool, string) {
		return is("AppArmorProfile", r.all.AppArmorProfile, r.plan.Request.Hardening.AppArmor)
	},
	"hardening.seccomp": func(r record) (bool, string) {
		return !slices.ContainsFunc(r.host.SecurityOpt, func(o string) bool { return strings.HasPrefix(o, "seccomp") && strings.HasSuffix(o, "unconfined") }),
			fmt.Sprintf("SecurityOpt %v", r.host.SecurityOpt)
	},
	"hardening.seccomp-profile": seccompRecord,
	// A terminal's session is the container's too.
	"hardening.new-session":    func(r record) (bool, string) { return ownNamespace("PidMode", string(r.host.PidMode)) },
	"hardening.masked-paths":   maskedRecord,
	"hardening.read-only-root": func(r record) (bool, string) { return is("ReadonlyRootfs", r.host.ReadonlyRootfs, true) },
	"hardening.init": func(r record) (bool, string) {
		return is("Init", r.host.Init != nil && *r.host.Init, true)
	},
	"hardening.pid-namespace": func(r record) (bool, string) { return ownNamespace("PidMode", string(r.host.PidMode)) },
	"hardening.ipc-namespace": func(r record) (bool, string) { return ownNamespace("IpcMode", string(r.host.IpcMode)) },
	"hardening.uts-namespace": func(r record) (bool, string) { return ownNamespace("UTSMode", string(r.host.UTSMode)) },
	"hardening.cgroup-namespace": func(r record) (bool, string) {
		return is("CgroupnsMode", r.host.CgroupnsMode, container.CgroupnsModePrivate)
	},
	"network.none":    networkRecord("none"),
	"network.egress":  networkRecord("none"),
	"network.host":    networkRecord("host"),
	"network.private": privateRecord,
	"user.id":         userRecord,
	"user.caller":     userRecord,
	"image":           func(r record) (bool, string) { return is("Image", bareID(r.all.Image), bareID(r.plan.Image.ID)) },
}

// maskedRecord holds where nothing in the record says that a path of the engine's own list is left open. Docker also keeps the list.
func maskedRecord(r record) (bool, string) {
	open := slices.ContainsFunc(r.host.SecurityOpt, func(o string) bool {
		return strings.HasPrefix(o, "systempaths") || strings.HasPrefix(o, "unmask")
	})
	return !open && !r.host.Privileged, fmt.Sprintf("MaskedPaths %v, SecurityOpt %v, Privileged %v", r.host.MaskedPaths, r.host.SecurityOpt, r.host.Privileged)
}

// podmanCapabilities is the fewest capabilities Podman has by default (containers/common, DefaultCapabilities), which CapDrop lists where
// all are dropped.
const podmanCapabilities = 11

func pidsLimit(r record) int64 {
	if r.host.PidsLimit == nil {
		return 0
	}
	return *r.host.PidsLimit
}

// ownNamespace holds for every mode but the host's and another container's: engines write their own default in different ways ("",
// private, shareable).
func ownNamespace(name, mode string) (bool, string) {
	return mode != "host" && !strings.HasPrefix(mode, "container:") && !strings.HasPrefix(mode, "ns:"), fmt.Sprintf("%s %q", name, mode)
}

// privateRecord holds where the container is in the run's own network and in no other. Docker keeps the network's name as the mode, Podman
// "bridge" for every network that is one (4.3.1).
func privateRecord(r record) (bool, string) {
	name := r.plan.Request.Run.Name()
	var networks []string
	if r.all.NetworkSettings != nil {
		networks = slices.Sorted(maps.Keys(r.all.NetworkSettings.Networks))
	}
	mode := string(r.host.NetworkMode)
	return (mode == name || mode == "bridge") && slices.Equal(networks, []string{name}), fmt.Sprintf("NetworkMode %s, Networks %v", mode, networks)
}

func networkRecord(mode string) func(record) (bool, string) {
	return func(r record) (bool, string) { return is("NetworkMode", string(r.host.NetworkMode), mode) }
}

func userRecord(r record) (bool, string) {
	u := r.plan.Request.User
	return is("User", r.config.User, fmt.Sprintf("%d:%d", u.UID, u.GID))
}

// bareID is an id without its algorithm, which Podman leaves out in places.
func bareID(id string) string { return strings.TrimPrefix(id, "sha256:") }

// rlimitNames are the engines' names of the kernel's limits of a process.
var rlimitNames = map[string]string{
	"limits.open-files": "nofile", "limits.user-processes": "nproc", "limits.cpu-time": "cpu", "limits.data": "data", "limits.file-size": "fsize",
	"limits.core": "core", "limits.stack": "stack", "limits.locked-memory": "memlock", "limits.pending-signals": "sigpending", "limits.message-queue": "msgqueue",
}

func ulimitRecord(feature string) func(record) (bool, string) {
	return func(r record) (bool, string) {
		want := r.plan.Request.Limits.Get(feature)
		for _, u := range r.host.Ulimits {
			// Podman has RLIMIT_NOFILE where Docker has nofile.
			if strings.EqualFold(strings.TrimPrefix(u.Name, "RLIMIT_"), rlimitNames[feature]) {
				return want != nil && u.Soft == runtime.Signed(want.Soft) && u.Hard == runtime.Signed(want.Hard), fmt.Sprintf("Ulimits %s %d:%d", u.Name, u.Soft, u.Hard)
			}
		}
		return false, "Ulimits has no " + rlimitNames[feature]
	}
}
