package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
	"github.com/sbxkit/sbxkit/runtime/cgroup"
)

// tampered is a definition whose program stands between us and bubblewrap: a script of a person who means well. It reads the words from
// the arguments descriptor (3), runs them through edit (sed, one word a line), and hands them on.
func tampered(t testing.TB, edit string) Definition {
	t.Helper()
	return wrapped(t, `
tr '\0' '\n' <&3 | sed -e '`+edit+`' | tr '\n' '\0' >"$0.words.$$"
exec 3<"$0.words.$$"
rm -f "$0.words.$$"
exec env -i "$BWRAP" "$@"
`)
}

func wrapped(t testing.TB, body string) Definition {
	t.Helper()
	dir := t.TempDir()
	name := filepath.Join(dir, "bwrap-wrapper")
	script := "#!/bin/sh\nPATH=/usr/local/bin:/usr/bin:/bin\nBWRAP=$(command -v bwrap)\n[ -e " + filepath.Join(dir, "on") + " ] || exec env -i \"$BWRAP\" \"$@\"\n" + body
	if err := os.WriteFile(name, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	d := bwrapDefinition()
	d.Options.Program = name
	return d
}

// tamper makes the wrapper do what it does; before that it lets a probe pass.
func tamper(t testing.TB, d Definition) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(filepath.Dir(d.Options.Program), "on"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// unsandboxed is a program that speaks as bubblewrap does and isolates nothing.
const unsandboxed = `
while [ "$1" != -- ]; do shift; done
shift
(exec /bin/sh -c 'echo "{ \"child-pid\": $$ }" >&5; head -c 1 <&4 >/dev/null; exec "$@"' sh "$@")
`

// withTerminal is a wrapper that gives the sandbox a controlling terminal, whose path is %s, before it goes on.
const withTerminal = `
: <>%s
tr '\0' '\n' <&3 | sed -e '/^--new-session$/d' | tr '\n' '\0' >"$0.words.$$"
exec 3<"$0.words.$$"
rm -f "$0.words.$$"
exec env -i "$BWRAP" "$@"
`

// breaks breaks each guarantee of a sandbox's program on purpose: once by every way that is worth its own look.
var breaks = []struct {
	name, feature string
	edit          string                // of the words
	body          string                // or a whole wrapper
	terminal      bool                  // or withTerminal
	launch        func(*runtime.Launch) // what asks for it
	define        func(*Definition)     // what the policy has of it
	skip          func() (why string)   // where it cannot be broken
	starts        bool                  // false where the launch passes with the wrapper that only hands on
	hides         string                // a value that no failure may show
}{
	{name: "new privileges allowed", feature: "hardening.no-new-privileges", body: unsandboxed, skip: func() string {
		if n, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || n != 0 {
			return "this process has none to give"
		}
		return ""
	}},
	{name: "pid namespace dropped", feature: "hardening.pid-namespace", edit: "/^--unshare-pid$/d"},
	{name: "ipc namespace dropped", feature: "hardening.ipc-namespace", edit: "/^--unshare-ipc$/d"},
	{name: "uts namespace dropped", feature: "hardening.uts-namespace", edit: "/^--unshare-uts$/d"},
	{name: "cgroup namespace dropped", feature: "hardening.cgroup-namespace", edit: "/^--unshare-cgroup$/d"},
	{name: "user namespace dropped", feature: "hardening.user-namespace", edit: "/^--unshare-user$/d",
		define: func(d *Definition) {
			// Without one the bounding set stays full, which would be caught first.
			d.Description.Policy.Hardening = d.Description.Policy.Hardening[1:]
		},
		skip: func() string {
			if os.Getuid() != 0 {
				return "bubblewrap makes one by itself for an ordinary user"
			}
			return ""
		}},
	{name: "network namespace dropped", feature: "network.none", edit: "/^--unshare-net$/d"},
	{name: "network namespace dropped beside a way out", feature: "network.egress", edit: "/^--unshare-net$/d", launch: func(l *runtime.Launch) {
		l.Network = runtime.Network{Mode: runtime.NetworkEgress, Socket: l.Network.Socket}
	}},
	{name: "capabilities kept", feature: "hardening.capabilities", edit: "s/^--cap-drop$/--cap-add/;s/^ALL$/CAP_CHOWN/"},
	{name: "no reaper above the command", feature: "hardening.init", edit: "1s/^/--as-pid-1\\n/", launch: func(l *runtime.Launch) { l.Hardening.Init = true }},
	{name: "the seccomp filter left out", feature: "hardening.seccomp", edit: "/^--seccomp$/{N;d}", launch: func(l *runtime.Launch) { l.Hardening.Seccomp = filterDefault }},
	{name: "a terminal beside it", feature: "hardening.new-session", terminal: true},
	{name: "a read-only bind made writable", feature: "mount", edit: "s/^--ro-bind$/--bind/"},
	{name: "a mount too many", feature: "mount", edit: "s/^--proc$/--tmpfs\\n\\/extra\\n--proc/"},
	{name: "a mount left out", feature: "mount", edit: "/^--tmpfs$/{N;d}"},
	{name: "another source", feature: "mount", edit: "/^--ro-bind$/{n;s/^\\/usr$/\\/etc/}", launch: func(l *runtime.Launch) { l.Argv = []string{"/workspace/run"} }, starts: true},
	{name: "the host's proc", feature: "mount", edit: "s/^--proc$/--ro-bind\\n\\/proc/"},
	{name: "a variable added", feature: "environment", edit: "1s/^/--setenv\\nLD_PRELOAD\\n\\/evil.so\\n/", hides: "/evil"},
	{name: "a variable changed", feature: "environment", edit: "/^--setenv$/{n;n;s/.*/\\/evil/}", launch: func(l *runtime.Launch) { l.Argv[0] = "/bin/sh" }, hides: "/evil"},
	{name: "a variable left out", feature: "environment", edit: "/^--setenv$/{N;N;d}", launch: func(l *runtime.Launch) { l.Argv[0] = "/bin/sh" }},
	{name: "a descriptor leaked", feature: "streams.descriptors", body: "exec 9</etc/passwd\nexec env -i \"$BWRAP\" \"$@\"\n"},
	{name: "another program", feature: "command",
		body: "a=; for w; do [ \"$w\" = /bin/sh ] && w=/bin/true; a=\"$a '$w'\"; done\neval \"set -- $a\"\nexec env -i \"$BWRAP\" \"$@\"\n", launch: func(l *runtime.Launch) { l.Argv = []string{"/bin/sh"} }},
	{name: "another directory", feature: "workdir", edit: "/^--chdir$/{n;s/.*/\\//}", launch: func(l *runtime.Launch) { l.Dir = "/tmp" }},
	{name: "the user left alone", feature: "user.id", edit: "/^--uid$/{N;d};/^--gid$/{N;d}", launch: func(l *runtime.Launch) { l.User = runtime.User{Kind: runtime.UserID, UID: 1234, GID: 1235} }},
	{name: "another user", feature: "user.caller", edit: "1s/^/--uid\\n1234\\n/", launch: func(l *runtime.Launch) { l.User = runtime.User{Kind: runtime.UserCaller} }},
	{name: "user namespaces allowed", feature: "hardening.user-namespace-off", edit: "/^--disable-userns$/d;/^--dev$/{N;d}", launch: func(l *runtime.Launch) { l.Hardening.UserNamespaceOff = true },
		define: func(d *Definition) {
			// Without /dev there is no second namespace for an ordinary user either.
			m := d.Description.Policy.Mounts
			d.Description.Policy.Mounts = append(m[:len(m)-2:len(m)-2], m[len(m)-1])
		}},
	{name: "a writable root", feature: "hardening.read-only-root", edit: "/^--remount-ro$/{N;d}", launch: func(l *runtime.Launch) { l.Hardening.ReadOnlyRoot = true }},
}

// BrokenOnPurpose are the claims that a test of this room breaks and sees refused before the command runs.
func BrokenOnPurpose() map[string]bool {
	all := map[string]bool{parentDeath: true}
	for _, b := range breaks {
		all[b.feature] = true
	}
	for _, l := range attest.ResourceLimits {
		all[l.Name] = true // TestALimitThatDoesNotHoldIsCaughtBeforeTheCommandRuns
	}
	for _, n := range cgroup.Limits {
		all[n] = true // TestALostControlGroupIsCaughtBeforeTheCommandRuns
	}
	return all
}

// TestEveryGuaranteeIsCaughtWhenItBreaks breaks each guarantee on purpose and sees the start refused: before the command runs, or, where the
// command cannot be stopped at its exec, with the command ended.
func TestEveryGuaranteeIsCaughtWhenItBreaks(t *testing.T) {
	writable := t.TempDir()
	if err := os.Chmod(writable, 0o755); err != nil {
		t.Fatal(err)
	}
	proxy := unixListener(t)
	for _, c := range breaks {
		t.Run(c.name, func(t *testing.T) {
			if c.skip != nil {
				if why := c.skip(); why != "" {
					t.Skip(why)
				}
			}
			d := tampered(t, c.edit)
			switch {
			case c.body != "":
				d = wrapped(t, c.body)
			case c.terminal:
				control, inside, err := pty.Open()
				if err != nil {
					t.Fatal(err)
				}
				defer control.Close()
				defer inside.Close()
				d = wrapped(t, fmt.Sprintf(withTerminal, inside.Name()))
			}
			if c.define != nil {
				c.define(&d)
			}
			b := backend(t, d)
			// The shell itself waits, so that it is still what was started when it is looked at late.
			l := sh("echo ran; read x")
			l.Stdin = runtime.Stdin{Mode: runtime.StdinPipe}
			l.Workspace = &runtime.Workspace{Source: writable}
			l.Network.Socket = proxy // of the one row whose mode takes it
			if c.launch != nil {
				c.launch(&l)
			}
			// The same launch passes while the wrapper only hands on, so that it is the edit that is caught.
			if c.starts {
				probe(t, b)
			} else {
				good := begin(t, b, l)
				good.Stdin().Close()
				good.wait(t)
			}
			tamper(t, d)
			r, err := tryBegin(t, b, l)
			if !errors.Is(err, runtime.ErrSetup) {
				t.Fatalf("got %v, want a setup failure about %s", err, c.feature)
			}
			f := runtime.AsFailure(err, runtime.Setup)
			if f.Feature != c.feature {
				t.Errorf("the failure is about %q, want %q: %v", f.Feature, c.feature, err)
			}
			if r.stdout.String() != "" && !ptraceDenied() {
				t.Errorf("the command ran: %q", r.stdout)
			}
			if c.hides != "" && strings.Contains(err.Error(), c.hides) {
				t.Errorf("a value stands in the failure: %v", err)
			}
		})
	}
}

// TestALimitThatDoesNotHoldIsCaughtBeforeTheCommandRuns asks for each of the kernel's limits of a process, and sets none.
func TestALimitThatDoesNotHoldIsCaughtBeforeTheCommandRuns(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		probe(t, b)
		defer func() { setLimits = limit }()
		setLimits = func(int, *runtime.Limits) error { return nil }
		for _, l := range attest.ResourceLimits {
			t.Run(l.Name, func(t *testing.T) {
				launch := sh("echo ran; read x")
				launch.Stdin = runtime.Stdin{Mode: runtime.StdinPipe}
				launch.Limits.Put(l.Name, runtime.AtMost(123_456_789_012))
				r, err := tryBegin(t, b, launch)
				if f := runtime.AsFailure(err, runtime.Setup); !errors.Is(err, runtime.ErrSetup) || f.Feature != l.Name {
					t.Errorf("got %v, want a setup failure about %s", err, l.Name)
				}
				if r.stdout.String() != "" && !ptraceDenied() {
					t.Errorf("the command ran: %q", r.stdout)
				}
			})
		}
	})
}

// TestASandboxThatOutlivesItsParentIsCaughtByTheProbe: the kernel has no record of it that another process can read.
func TestASandboxThatOutlivesItsParentIsCaughtByTheProbe(t *testing.T) {
	if ptraceDenied() {
		t.Skip("nothing makes the probe's command stand still: the claim is then unattested, and says so")
	}
	d := tampered(t, "/^--die-with-parent$/d")
	b := backend(t, d)
	tamper(t, d)
	defer func(d time.Duration) { deathDeadline = d }(deathDeadline)
	deathDeadline = time.Second
	_, err := b.Probe(t.Context(), runtime.ProbeRequest{})
	if f := runtime.AsFailure(err, runtime.Setup); !errors.Is(err, runtime.ErrUnsupported) || f.Feature != parentDeath {
		t.Errorf("got %v", err)
	}
}

// TestACommandThatChangesItselfIsNotBlamed: where nothing stops it at its exec, it may be anywhere when it is looked at.
func TestACommandThatChangesItselfIsNotBlamed(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		for _, script := range []string{
			"cd /usr && exec env -i X=1 /bin/sh -c 'read x'", "exec 7</dev/null; export PATH=/other; read x", "exec env X=1 /bin/cat",
		} {
			l := sh(script)
			l.Stdin = runtime.Stdin{Mode: runtime.StdinPipe}
			l.Dir = "/tmp"
			for range 5 {
				r := begin(t, b, l)
				r.Stdin().Close()
				r.wait(t)
				for _, g := range r.Guarantees() {
					if g.Measured == runtime.MeasuredBroken {
						t.Errorf("%s: %+v", script, g)
					}
				}
			}
		}
	})
}

// TestGuaranteesSayWhenAndByWhat looks at the whole list of a good launch.
func TestGuaranteesSayWhenAndByWhat(t *testing.T) {
	both(t, func(t *testing.T, b *Backend) {
		l := sh("true")
		l.Limits = runtime.Limits{OpenFiles: runtime.AtMost(64)}
		r := begin(t, b, l)
		r.wait(t)
		if len(r.Guarantees()) == 0 {
			t.Fatal("nothing was measured")
		}
		held, exec := runtime.WhenHeld, runtime.WhenExec
		if b.def.Gate == GateExec {
			held = exec
		}
		if ptraceDenied() {
			exec = runtime.WhenAfterExec
			if b.def.Gate == GateExec {
				held = exec
			}
		}
		for _, g := range r.Guarantees() {
			if g.Name == "hardening.parent-death" {
				continue
			}
			unseen := ptraceDenied() && g.Measured == runtime.MeasuredUnknown
			if g.Measured != runtime.MeasuredHolds && !unseen || g.Evidence == "" {
				t.Errorf("%+v", g)
			}
			want := held
			if atExecOnly[g.Name] {
				want = exec
			}
			if ptraceDenied() && g.Name == "streams.descriptors" {
				want = held
			}
			if g.When != want {
				t.Errorf("%s was measured %q, want %q", g.Name, g.When, want)
			}
		}
	})
}
