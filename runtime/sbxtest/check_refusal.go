package sbxtest

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// refusalChecks are launches that the seam refuses by plan: what it is, the kind of the refusal, and how a plain launch becomes it.
func refusalChecks() []Check {
	var all []Check
	for _, r := range []struct {
		name   string
		kind   runtime.Kind
		change func(*runtime.Launch)
		needs  []string
	}{
		{"no command", runtime.Denied, func(l *runtime.Launch) { l.Argv = nil }, nil},
		{"a command and a script", runtime.Denied, func(l *runtime.Launch) { l.Script = &runtime.Script{Interpreter: []string{"/bin/sh"}} }, nil},
		{"a script without an interpreter", runtime.Denied, func(l *runtime.Launch) { l.Argv, l.Script = nil, &runtime.Script{Text: []byte("x")} }, nil},
		{"a program without a name", runtime.Denied, func(l *runtime.Launch) { l.Argv = []string{""} }, nil},
		{"a word with a NUL byte", runtime.Denied, func(l *runtime.Launch) { l.Argv = append(l.Argv, "a\x00b") }, nil},
		{"a variable that the policy does not accept", runtime.Denied, set("SBXTEST_UNACCEPTED", "1"), nil},
		{"a variable of the dynamic linker", runtime.Denied, set("LD_PRELOAD", "/tmp/evil.so"), nil},
		{"a variable's name that is none", runtime.Denied, set("A=B", "1"), nil},
		{"a value with a NUL byte", runtime.Denied, set("CI", "a\x00b"), nil},
		{"forwarding what the policy does not accept", runtime.Denied, func(l *runtime.Launch) { l.Env.Forward = []string{"AWS_SECRET_ACCESS_KEY"} }, nil},
		{"a directory in PATH that is relative", runtime.Denied, func(l *runtime.Launch) { l.Env.Path.Prepend = []string{"bin"} }, nil},
		{"a credential role that is not declared", runtime.Denied, func(l *runtime.Launch) {
			l.Credentials = map[string]runtime.Credential{"sbxtest-undeclared": {Value: []byte("x")}}
		}, nil},
		{"a label in the reserved prefix", runtime.Denied, func(l *runtime.Launch) { l.Labels = map[string]string{runtime.LabelPrefix + "owner": "me"} }, nil},
		{"a label with a line break", runtime.Denied, func(l *runtime.Launch) { l.Labels = map[string]string{"a": "b\nc"} }, nil},
		{"a relative working directory", runtime.Denied, func(l *runtime.Launch) { l.Dir = "work" }, nil},
		{"a relative workspace", runtime.Denied, func(l *runtime.Launch) { l.Workspace = &runtime.Workspace{Source: "work"} }, nil},
		{"a workspace at the root", runtime.Denied, func(l *runtime.Launch) { l.Workspace = &runtime.Workspace{Source: "/tmp", Target: "/"} }, []string{"mount.bind-rw"}},
		{"a host name that is none", runtime.Denied, func(l *runtime.Launch) { l.Hostname = "-x y" }, nil},
		{"a mount of no known kind", runtime.Denied, func(l *runtime.Launch) { l.Mounts = []runtime.Mount{{Kind: "teleport", Target: "/x"}} }, nil},
		{"a writable grant that is optional", runtime.Denied, func(l *runtime.Launch) {
			l.Mounts = []runtime.Mount{{Kind: runtime.MountBindRW, Source: "/nonexistent", Target: "/x", Optional: true}}
		}, nil},
		{"a network of no known kind", runtime.Denied, func(l *runtime.Launch) { l.Network.Mode = "internet" }, nil},
		{"a published port without a private network", runtime.Denied, func(l *runtime.Launch) {
			l.Network = runtime.Network{Publish: []runtime.Port{{Container: 80}}}
		}, nil},
		{"a name server without an address", runtime.Denied, func(l *runtime.Launch) {
			l.Network = runtime.Network{Mode: runtime.NetworkPrivate, DNS: []netip.Addr{{}}}
		}, []string{"network.private", "network.dns"}},
		{"a limit above the policy's", runtime.Denied, func(l *runtime.Launch) { l.Limits.OpenFiles = runtime.AtMost(1 << 40) }, []string{"limits.open-files"}},
		{"a soft limit above its hard one", runtime.Denied, func(l *runtime.Launch) { l.Limits.OpenFiles = &runtime.Limit{Soft: 9, Hard: 8} }, []string{"limits.open-files"}},
		{"a wall time above the policy's", runtime.Denied, func(l *runtime.Launch) { l.Timeouts.Wall = 10000 * time.Hour }, nil},
		{"a negative time", runtime.Denied, func(l *runtime.Launch) { l.Timeouts.Idle = -time.Second }, nil},
		{"two ways to be ready", runtime.Denied, func(l *runtime.Launch) { l.Ready = &runtime.Ready{Line: "x", Port: 80} }, nil},
		{"artifacts without a controller", runtime.Denied, func(l *runtime.Launch) { l.Artifacts = &runtime.Artifacts{Paths: []string{"/out"}} }, nil},
		{"a stdin file that is missing", runtime.Denied, func(l *runtime.Launch) { l.Stdin.Mode = runtime.StdinFile }, nil},
		{"a reader without a stdin pipe", runtime.Denied, func(l *runtime.Launch) { l.Stdin.Reader = strings.NewReader("x") }, nil},
		{"a terminal with a stdin pipe", runtime.Denied, func(l *runtime.Launch) {
			l.Terminal, l.Stdin.Mode = &runtime.Terminal{}, runtime.StdinPipe
		}, nil},
		{"a terminal where framing matters", runtime.Denied, func(l *runtime.Launch) { l.Terminal, l.Stdout = &runtime.Terminal{}, runtime.Pipe }, nil},
		{"a terminal with a stderr of its own", runtime.Denied, func(l *runtime.Launch) {
			l.Terminal, l.Stdout, l.Stderr = &runtime.Terminal{}, &output{}, &output{}
		}, nil},
	} {
		all = append(all, check(r.name+" is refused", ruleRefuseEarly, func(c *C) {
			st := c.plain()
			l := c.launch(say("x"))
			r.change(&l)
			charges := 0
			l.Charge = func(context.Context, *runtime.Plan) error { charges++; return nil }
			res, err := st.run(l)
			c.refused(err, r.kind, runtime.StepPlan)
			if charges > 0 || res.Outcome != runtime.NeverRan || len(st.journal.written()) > 0 {
				c.Errorf("charged %d times, outcome %s, %d records", charges, res.Outcome, len(st.journal.written()))
			}
		}, r.needs...))
	}
	return append(all,
		check("what the backend declares unsupported is refused by name and reason", ruleNothingLost, unsupportedIsRefused),
		check("what the host lacks is refused by name", ruleNothingLost, absentIsRefused),
	)
}

func set(name, value string) func(*runtime.Launch) {
	return func(l *runtime.Launch) { l.Env.Set = map[string]string{name: value} }
}

// asks are launches that ask for one feature each, for those that a launch can ask for in one word.
func asks() map[string]func(*runtime.Launch) {
	m := map[string]func(*runtime.Launch){
		"hostname":                  func(l *runtime.Launch) { l.Hostname = "box" },
		"image":                     func(l *runtime.Launch) { l.Image.Ref = "sbxtest.invalid/none:1" },
		"ready.health":              func(l *runtime.Launch) { l.Ready = &runtime.Ready{Health: true} },
		"ready.notify":              func(l *runtime.Launch) { l.Ready = &runtime.Ready{Notify: true} },
		"liveness.heartbeat":        func(l *runtime.Launch) { l.Heartbeat = time.Second },
		"terminal":                  func(l *runtime.Launch) { l.Terminal = &runtime.Terminal{} },
		"network.none":              func(l *runtime.Launch) { l.Network.Mode = runtime.NetworkNone },
		"hardening.pid-namespace":   func(l *runtime.Launch) { l.Hardening.PIDNamespace = true },
		"hardening.user-namespace":  func(l *runtime.Launch) { l.Hardening.UserNamespace = true },
		"hardening.read-only-root":  func(l *runtime.Launch) { l.Hardening.ReadOnlyRoot = true },
		"hardening.landlock":        func(l *runtime.Launch) { l.Hardening.Landlock = true },
		"hardening.seccomp":         func(l *runtime.Launch) { l.Hardening.Seccomp = "default" },
		"hardening.seccomp-profile": func(l *runtime.Launch) { l.Hardening.SeccompProfile = "/sbxtest/seccomp.json" },
		"hardening.apparmor":        func(l *runtime.Launch) { l.Hardening.AppArmor = "sbxtest" },
		"hardening.parent-death":    func(l *runtime.Launch) { l.Hardening.ParentDeath = true },
		"hardening.masked-paths":    func(l *runtime.Launch) { l.Hardening.MaskedPaths = true },
		"hardening.capabilities":    func(l *runtime.Launch) { l.Hardening.Capabilities = true },
		"limits.shm":                func(l *runtime.Launch) { l.Limits.Shm = runtime.AtMost(1 << 20) },
		"limits.address-space":      func(l *runtime.Launch) { l.Limits.AddressSpace = runtime.AtMost(1 << 40) },
		"limits.memory":             func(l *runtime.Launch) { l.Limits.Memory = runtime.AtMost(64 << 20) },
		"limits.processes":          func(l *runtime.Launch) { l.Limits.Processes = runtime.AtMost(64) },
		"mount.volume": func(l *runtime.Launch) {
			l.Mounts = []runtime.Mount{{Kind: runtime.MountVolume, Source: "v", Target: "/v"}}
		},
		"mount.tmpfs": func(l *runtime.Launch) { l.Mounts = []runtime.Mount{{Kind: runtime.MountTmpfs, Target: "/scratch"}} },
		"mount.symlink": func(l *runtime.Launch) {
			l.Mounts = []runtime.Mount{{Kind: runtime.MountSymlink, Source: "/a", Target: "/b"}}
		},
	}
	return m
}

func unsupportedIsRefused(c *C) {
	d := c.subject.Backend.Describe()
	st := c.plain()
	tried := 0
	for feature, change := range asks() {
		f, _ := d.Feature(feature)
		if f.How != runtime.HowUnsupported {
			continue
		}
		tried++
		l := c.launch(say("x"))
		change(&l)
		_, err := st.run(l)
		// A closed sum that the policy does not accept is denied before anybody asks whether it could be done.
		if err == nil {
			c.Errorf("%s is unsupported, and a launch that asks for it runs", feature)
			continue
		}
		fail := c.failure(err)
		if fail.Step != runtime.StepPlan || fail.Kind != runtime.Unsupported || fail.Feature != feature || !strings.Contains(fail.Message, f.Reason) {
			c.Errorf("%s is refused as %s at %s about %q: %v", feature, fail.Kind, fail.Step, fail.Feature, err)
		}
	}
	if tried == 0 {
		c.Gap("it declares nothing unsupported that one word of a launch asks for")
	}
}

// absentIsRefused lets the probe say that the host lacks a feature, and asks for it.
func absentIsRefused(c *C) {
	for feature, change := range asks() {
		if !c.supports(feature) || feature == "image" {
			continue
		}
		why := fmt.Sprintf("this host has no %s", feature)
		st := c.stand(setting{hooks: Hooks{Probe: func(ctx context.Context, r runtime.ProbeRequest, next func(context.Context, runtime.ProbeRequest) (*runtime.Identity, error)) (*runtime.Identity, error) {
			id, err := next(ctx, r)
			if err != nil {
				return nil, err
			}
			id2 := *id
			id2.Absent = append(id2.Absent, runtime.Absence{Feature: feature, Why: why, Cure: "get another"})
			return &id2, nil
		}}})
		l := c.launch(say("x"))
		change(&l)
		_, err := st.run(l)
		if f := c.refused(err, runtime.Unsupported, runtime.StepPlan); f.Feature == "" || f.Cure == "" {
			c.Errorf("the refusal does not say which feature and what to do: %v", err)
		}
		return
	}
	c.Gap("it supports nothing that one word of a launch asks for")
}
