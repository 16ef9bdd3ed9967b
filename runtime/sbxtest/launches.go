package sbxtest

import (
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// pinned is a launch whose plan is pinned, by name. A launch that the policy denies or the backend does not support is pinned as that.
type pinned struct {
	name   string
	launch runtime.Launch
}

// The values that must never show in a plan.
const (
	privateValue = "private-value-of-the-launch"
	secretValue  = "private-value-of-a-credential"
)

// environ is the host environment of pinned launches.
var environ = []string{
	"LANG=C.UTF-8", "TZ=UTC", "TERM=xterm", "CI=host-ci", "HOME=/home/caller", "PATH=/usr/bin:/bin", "AWS_SECRET_ACCESS_KEY=" + privateValue,
}

// Launches gives the launches whose plans Plans pins, by name, for other tests to hold a backend to the same set. Their paths are those of a
// host that does not exist.
func Launches(d *runtime.Description) iter.Seq2[string, runtime.Launch] {
	return func(yield func(string, runtime.Launch) bool) {
		for _, l := range launches(d) {
			if !yield(l.name, l.launch) {
				return
			}
		}
	}
}

// Environ is the host environment those launches are planned in.
func Environ() []string { return slices.Clone(environ) }

// launches are the fixed set, each about one thing, so that a change shows where it belongs.
func launches(d *runtime.Description) []pinned {
	command := []string{"/bin/true"}
	all := []pinned{
		{"bare", runtime.Launch{Argv: command}},
		{"command", runtime.Launch{Argv: []string{"/bin/echo", "two words", "--flag", "", "it's", "$HOME"}}},
		{"command-starts-with-dash", runtime.Launch{Argv: []string{"--version", "--"}}},
		{"script", runtime.Launch{Script: &runtime.Script{
			Interpreter: []string{"/bin/sh", "-eu"}, Text: []byte("echo " + privateValue + "\n"), Args: []string{"one"},
		}}},
		{"environment", runtime.Launch{Argv: command, Env: runtime.Environment{Set: map[string]string{"CI": privateValue}}}},
		{"environment-forward", runtime.Launch{Argv: command, Env: runtime.Environment{Forward: []string{"CI", "LC_*"}}}},
		{"environment-denied", runtime.Launch{Argv: command, Env: runtime.Environment{Set: map[string]string{"LD_PRELOAD": privateValue}}}},
		{"environment-path", runtime.Launch{Argv: command, Env: runtime.Environment{Path: runtime.Path{Prepend: []string{"/opt/tool/bin"}}}}},
		{"workdir", runtime.Launch{Argv: command, Dir: "/srv/data"}},
		{"hostname", runtime.Launch{Argv: command, Hostname: "box"}},
		{"labels", runtime.Launch{Argv: command, Labels: map[string]string{"team": "build", "job": "7"}}},
		{"user-image", runtime.Launch{Argv: command, User: runtime.User{Kind: runtime.UserImage}}},
		{"user-caller", runtime.Launch{Argv: command, User: runtime.User{Kind: runtime.UserCaller}}},
		{"user-id", runtime.Launch{Argv: command, User: runtime.User{Kind: runtime.UserID, UID: 1234, GID: 5678}}},
		{"image-platform", runtime.Launch{Argv: command, Image: runtime.Image{Platform: "linux/arm64/v8"}}},
		{"stdin-pipe", runtime.Launch{Argv: command, Stdin: runtime.Stdin{Mode: runtime.StdinPipe}}},
		{"terminal", runtime.Launch{Argv: command, Terminal: &runtime.Terminal{Columns: 80, Rows: 24, Term: "xterm-256color"}}},
		{"timeouts", runtime.Launch{Argv: command, Timeouts: runtime.Timeouts{Wall: 90 * time.Second, Grace: 1500 * time.Millisecond}}},
		{"heartbeat", runtime.Launch{Argv: command, Heartbeat: time.Second}},
		{"ready-notify", runtime.Launch{Argv: command, Ready: &runtime.Ready{Notify: true}}},
	}
	all = append(all, workspaces(command)...)
	all = append(all, mounts(command)...)
	all = append(all, networks(command)...)
	all = append(all, limits(command)...)
	all = append(all, hardening(command)...)
	return append(all, credentials(d, command)...)
}

func workspaces(command []string) []pinned {
	var all []pinned
	for _, mode := range []runtime.WorkspaceMode{
		runtime.WorkspaceBindRW, runtime.WorkspaceBindRO, runtime.WorkspaceCopy, runtime.WorkspaceVolume,
	} {
		all = append(all, pinned{"workspace-" + string(mode), runtime.Launch{
			Argv: command, Workspace: &runtime.Workspace{Source: "/home/caller/project", Mode: mode},
		}})
	}
	return all
}

func mounts(command []string) []pinned {
	var all []pinned
	for _, m := range []runtime.Mount{
		{Kind: runtime.MountBindRO, Source: "/srv/data", Target: "/data"},
		{Kind: runtime.MountBindRW, Source: "/srv/data", Target: "/data"},
		{Kind: runtime.MountTmpfs, Target: "/scratch", Size: 64 << 20, Mode: 0o700},
		{Kind: runtime.MountVolume, Source: "cache", Target: "/cache", Scope: runtime.VolumeCache},
		{Kind: runtime.MountFile, Target: "/run/config", Mode: 0o400, Data: []byte(privateValue)},
		{Kind: runtime.MountSymlink, Source: "/data", Target: "/link"},
		{Kind: runtime.MountMask, Target: "/usr/bin"},
		{Kind: runtime.MountDevice, Source: "/dev/fuse", Target: "/dev/fuse"},
		{Kind: runtime.MountSocket, Source: "/run/proxy.sock", Target: "/run/proxy.sock"},
		{Kind: runtime.MountProc, Target: "/proc"},
		{Kind: runtime.MountDev, Target: "/dev"},
	} {
		all = append(all, pinned{"mount-" + string(m.Kind), runtime.Launch{Argv: command, Mounts: []runtime.Mount{m}}})
	}
	return append(all, pinned{"mounts-nested", runtime.Launch{Argv: command, Mounts: []runtime.Mount{
		{Kind: runtime.MountTmpfs, Target: "/data/tmp"},
		{Kind: runtime.MountBindRO, Source: "/srv/data", Target: "/data"},
	}}})
}

func networks(command []string) []pinned {
	proxy := netip.MustParseAddr("192.0.2.1")
	var all []pinned
	for _, n := range []struct {
		name string
		runtime.Network
	}{
		{"none", runtime.Network{Mode: runtime.NetworkNone}},
		{"host", runtime.Network{Mode: runtime.NetworkHost}},
		{"private", runtime.Network{Mode: runtime.NetworkPrivate}},
		{"egress", runtime.Network{Mode: runtime.NetworkEgress, Socket: "/run/proxy.sock"}},
		{"publish", runtime.Network{Mode: runtime.NetworkPrivate, Publish: []runtime.Port{{Container: 8080}, {Address: "127.0.0.1", Host: 5353,
			Container: 53, Protocol: "udp"}}}},
		{"names", runtime.Network{Mode: runtime.NetworkPrivate, Aliases: []string{"db"}, Hosts: []runtime.Host{{Name: "proxy", Address: proxy}},
			DNS: []netip.Addr{proxy}}},
	} {
		all = append(all, pinned{"network-" + n.name, runtime.Launch{Argv: command, Network: n.Network}})
	}
	return all
}

func limits(command []string) []pinned {
	var all []pinned
	for _, l := range []struct {
		name string
		runtime.Limits
	}{
		{"open-files", runtime.Limits{OpenFiles: &runtime.Limit{Soft: 64, Hard: 128}}},
		{"processes", runtime.Limits{Processes: runtime.AtMost(32)}},
		{"cpu-time", runtime.Limits{CPUTime: runtime.AtMost(30)}},
		{"cpus", runtime.Limits{CPUs: runtime.AtMost(1_500_000_000)}},
		{"cpuset", runtime.Limits{CPUSet: "0-1"}},
		{"memory", runtime.Limits{Memory: runtime.AtMost(64 << 20)}},
		{"swap", runtime.Limits{Memory: runtime.AtMost(64 << 20), Swap: runtime.AtMost(0)}},
		{"file-size", runtime.Limits{FileSize: runtime.AtMost(1 << 20)}},
		{"core", runtime.Limits{Core: runtime.AtMost(0)}},
		{"shm", runtime.Limits{Shm: runtime.AtMost(1 << 20)}},
		{"output", runtime.Limits{Output: runtime.AtMost(1 << 20)}},
	} {
		all = append(all, pinned{"limit-" + l.name, runtime.Launch{Argv: command, Limits: l.Limits}})
	}
	return all
}

func hardening(command []string) []pinned {
	var all []pinned
	for _, h := range []struct {
		name string
		runtime.Hardening
	}{
		{"namespaces", runtime.Hardening{PIDNamespace: true, IPCNamespace: true, UTSNamespace: true, UserNamespace: true, CgroupNamespace: true}},
		{"privileges", runtime.Hardening{NoNewPrivileges: true, Capabilities: true}},
		{"user-namespace-off", runtime.Hardening{UserNamespace: true, UserNamespaceOff: true}},
		{"read-only-root", runtime.Hardening{ReadOnlyRoot: true}},
		{"sessions", runtime.Hardening{NewSession: true, ParentDeath: true, Init: true}},
		{"seccomp", runtime.Hardening{Seccomp: "default"}},
		{"seccomp-profile", runtime.Hardening{SeccompProfile: "/srv/data/seccomp.json"}},
		{"apparmor", runtime.Hardening{AppArmor: "sandbox"}},
		{"masked-paths", runtime.Hardening{MaskedPaths: true}},
	} {
		all = append(all, pinned{"hardening-" + h.name, runtime.Launch{Argv: command, Hardening: h.Hardening}})
	}
	return all
}

// credentials gives a launch for each role the policy declares.
func credentials(d *runtime.Description, command []string) []pinned {
	var all []pinned
	for _, c := range d.Policy.Credentials {
		all = append(all, pinned{"credential-" + c.Role, runtime.Launch{
			Argv: command, Credentials: map[string]runtime.Credential{c.Role: {Value: []byte(secretValue)}},
		}})
	}
	return all
}
