package sbxtest

import (
	"fmt"
	"io/fs"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// Argv is a generated argv builder, Explain its explanation.
type (
	Argv    = func(*runtime.Request) []string
	Explain = func(*runtime.Request) []runtime.Word
)

// SameWords checks that explain gives the words of argv, in the same order, with a place in the spec for each, and that no private
// value is among them; and that argv allocates at most twice, for the words and their text, however many there are.
func SameWords(t *testing.T, d *runtime.Description, argv Argv, explain Explain) {
	t.Helper()
	for name, r := range requests() {
		t.Run(name, func(t *testing.T) {
			if problem := differ(r, argv(r), explain(r)); problem != "" {
				t.Errorf("backend %s: %s", d.Name, problem)
			}
		})
	}
	full := fullRequest()
	if allocations := testing.AllocsPerRun(20, func() { argv(full) }); allocations > 2 {
		t.Errorf("argv allocates %v times for %d words, want at most 2", allocations, len(argv(full)))
	}
}

// differ says how an explanation is not that of the words; empty where it is.
func differ(r *runtime.Request, argv []string, words []runtime.Word) string {
	if len(argv) != len(words) {
		return fmt.Sprintf("argv has %d words, its explanation %d", len(argv), len(words))
	}
	for i, w := range words {
		if w.Spec == "" {
			return fmt.Sprintf("word %d, %q, has no place in the spec", i, w.Text)
		}
		if w.Private {
			if !strings.Contains(w.Text, `"${`) {
				return fmt.Sprintf("word %d of %s is private, and is no reference: %q", i, w.Spec, w.Text)
			}
			continue
		}
		if w.Text != argv[i] {
			return fmt.Sprintf("word %d of %s: argv has %q, its explanation %q", i, w.Spec, argv[i], w.Text)
		}
		for _, v := range r.Env {
			if !v.Public && len(v.Value) > 8 && strings.Contains(w.Text, v.Value) && !strings.Contains(strings.Join(r.Command, " "), v.Value) {
				return fmt.Sprintf("word %d of %s shows the private value of %s", i, w.Spec, v.Name)
			}
		}
	}
	return ""
}

// FuzzWords holds argv against explain for requests made of arbitrary text and numbers. Neither may panic.
func FuzzWords(f *testing.F, argv Argv, explain Explain) {
	f.Add("word", "NAME", "value", "/target", uint64(7), int64(64), uint16(0o755))
	f.Add("--", "", "a,\"b\"\n", "", uint64(1<<63), int64(-1), uint16(0))
	f.Fuzz(func(t *testing.T, word, name, value, target string, n uint64, size int64, mode uint16) {
		r := fullRequest()
		r.Command = []string{word, value}
		r.Env = append(r.Env, runtime.Variable{Name: name, Value: value, Public: n%2 == 0, Origin: "launch"})
		for i := range r.Mounts {
			m := &r.Mounts[i]
			m.Source, m.Target, m.Size, m.Mode = value, target, size, fs.FileMode(mode)
		}
		r.Dir, r.Hostname, r.Image.Ref = target, name, value
		r.Labels = append(r.Labels, runtime.Label{Name: name, Value: value})
		r.Limits.Memory, r.Limits.CPUs = runtime.AtMost(n), runtime.AtMost(n)
		r.Limits.OpenFiles = &runtime.Limit{Soft: n, Hard: n + 1}
		r.User = runtime.User{Kind: runtime.UserID, UID: int(mode), GID: -int(mode)}
		if problem := differ(r, argv(r), explain(r)); problem != "" {
			t.Error(problem)
		}
	})
}

// BenchmarkWords measures argv on a request of ordinary size, and says what that is for 40 words.
func BenchmarkWords(b *testing.B, argv Argv) {
	r := ordinaryRequest()
	words := len(argv(r))
	b.ReportAllocs()
	for b.Loop() {
		argv(r)
	}
	b.ReportMetric(float64(words), "words")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)*40/float64(words), "ns/40words")
}

// requests are resolved requests by name.
func requests() map[string]*runtime.Request {
	withScript := ordinaryRequest()
	withScript.Script = &runtime.StagedScript{Target: runtime.ScriptTarget, Word: 1}
	return map[string]*runtime.Request{
		"nothing but a command": {Command: []string{"/bin/true"}},
		"no command":            {},
		"ordinary":              ordinaryRequest(),
		"script":                withScript,
		"everything":            fullRequest(),
	}
}

// ordinaryRequest is what a build or test job asks for: about 40 words on most command lines.
func ordinaryRequest() *runtime.Request {
	return &runtime.Request{
		Run:     runtime.RunName{ID: strings.Repeat("a", 26), Owner: strings.Repeat("b", 26)},
		Command: []string{"/bin/sh", "-c", "make test"},
		Env: []runtime.Variable{
			{Name: "HOME", Value: "/tmp", Public: true, Origin: "policy"}, {Name: "LANG", Value: "C.UTF-8", Origin: "forward"},
			{Name: "PATH", Value: "/usr/bin:/bin", Public: true, Origin: "policy"},
		},
		Dir:     "/workspace",
		Labels:  []runtime.Label{{Name: "sbxkit.run", Value: "a"}, {Name: "team", Value: "build"}},
		Image:   runtime.Image{Ref: "example/image:1"},
		Network: runtime.Network{Mode: runtime.NetworkNone},
		Mounts: []runtime.Mount{
			{Kind: runtime.MountBindRO, Source: "/usr", Target: "/usr", Origin: "policy"},
			{Kind: runtime.MountProc, Target: "/proc", Origin: "policy"},
			{Kind: runtime.MountTmpfs, Target: "/tmp", Size: 64 << 20, Mode: 0o1777, Origin: "policy"},
			{Kind: runtime.MountBindRW, Source: "/home/caller/project", Target: "/workspace", Origin: "workspace"},
		},
		Limits: runtime.Limits{OpenFiles: runtime.AtMost(1024), Processes: runtime.AtMost(256), Memory: runtime.AtMost(1 << 30)},
		Hardening: runtime.Hardening{
			NoNewPrivileges: true, Capabilities: true, PIDNamespace: true, IPCNamespace: true, UTSNamespace: true, NewSession: true, ParentDeath: true,
		},
		Stdin:       runtime.StdinPipe,
		Descriptors: runtime.Descriptors{Args: 3, Block: 4, Status: 5},
	}
}

// fullRequest asks for everything at once, more than any backend supports.
func fullRequest() *runtime.Request {
	address := netip.MustParseAddr("2001:db8::1")
	r := ordinaryRequest()
	r.Env = append(r.Env, runtime.Variable{Name: "TOKEN", Value: privateValue, Origin: "launch"})
	r.Credentials = []runtime.CredentialGrant{
		{Role: "a", Env: "KEY", Value: runtime.Secret(secretValue)},
		{Role: "b", File: "/run/credential", Mode: 0o400, Descriptor: 7, Value: runtime.Secret(secretValue)},
		{Role: "c", Descriptor: 20, Value: runtime.Secret(secretValue)},
	}
	r.Hostname = "box"
	r.User = runtime.User{Kind: runtime.UserID, UID: 1000, GID: 1000}
	r.Image.Platform, r.Image.Pull = "linux/amd64", runtime.PullNever
	r.Workspace = &runtime.Workspace{Source: "/home/caller/project", Target: "/workspace", Mode: runtime.WorkspaceBindRW}
	r.Mounts = nil
	for i, kind := range []runtime.MountKind{
		runtime.MountBindRO, runtime.MountBindRW, runtime.MountTmpfs, runtime.MountVolume, runtime.MountFile, runtime.MountSymlink,
		runtime.MountMaskFile, runtime.MountMaskDir, runtime.MountDevice, runtime.MountSocket, runtime.MountProc, runtime.MountDev, runtime.MountDir,
	} {
		r.Mounts = append(r.Mounts, runtime.Mount{
			Kind: kind, Source: "/source, with \"quotes\"", Target: "/target", Size: 4096, Mode: 0o644, Descriptor: 10 + i, Origin: "policy",
		})
	}
	r.Network = runtime.Network{
		Mode: runtime.NetworkPrivate, Socket: "/run/proxy.sock", Session: "s",
		Publish: []runtime.Port{{Address: "127.0.0.1", Host: 8080, Container: 80, Protocol: "tcp"}},
		Aliases: []string{"db"}, Hosts: []runtime.Host{{Name: "proxy", Address: address}}, DNS: []netip.Addr{address},
	}
	n := runtime.AtMost(1 << 20)
	r.Limits = runtime.Limits{
		OpenFiles: n, Processes: n, UserProcesses: n, CPUTime: n, CPUs: runtime.AtMost(1_500_000_000), CPUSet: "0-3", Memory: n, Swap: n,
		AddressSpace: n, Data: n, FileSize: n, Core: n, Stack: n, LockedMemory: n, PendingSignals: n, MessageQueue: n, Output: n, Shm: n,
	}
	r.Hardening = runtime.Hardening{
		NoNewPrivileges: true, Capabilities: true, PIDNamespace: true, IPCNamespace: true, UTSNamespace: true, UserNamespace: true,
		CgroupNamespace: true, UserNamespaceOff: true, ReadOnlyRoot: true, NewSession: true, ParentDeath: true, Init: true,
		Seccomp: "default", SeccompProfile: "/srv/seccomp.json", AppArmor: "sandbox", Landlock: true, MaskedPaths: true,
	}
	r.SameSink = true
	r.Terminal = &runtime.Terminal{Columns: 80, Rows: 24, Term: "xterm"}
	r.Timeouts = runtime.Timeouts{Start: time.Minute, Wall: time.Minute, Idle: time.Minute, Grace: time.Second, Liveness: time.Second}
	r.Ready = &runtime.Ready{Port: 80}
	r.Heartbeat, r.Liveness = time.Second, true
	r.Artifacts = &runtime.Artifacts{Paths: []string{"out"}}
	r.Descriptors = runtime.Descriptors{Args: 3, Block: 4, Status: 5, Seccomp: 6, Heartbeat: 20, Notify: 21}
	return r
}
