package process

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
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

// TestEveryGuaranteeIsCaughtWhenItBreaks breaks each guarantee on purpose and sees the start refused before the command runs.
func TestEveryGuaranteeIsCaughtWhenItBreaks(t *testing.T) {
	writable := t.TempDir()
	if err := os.Chmod(writable, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, feature string
		edit          string // of the words
		body          string // or a whole wrapper
		launch        func(*runtime.Launch)
		define        func(*Definition)
		needsStop     bool // is seen at the exec stop only
	}{
		{name: "pid namespace dropped", feature: "hardening.pid-namespace", edit: "/^--unshare-pid$/d"},
		{name: "ipc namespace dropped", feature: "hardening.ipc-namespace", edit: "/^--unshare-ipc$/d"},
		{name: "uts namespace dropped", feature: "hardening.uts-namespace", edit: "/^--unshare-uts$/d"},
		{name: "cgroup namespace dropped", feature: "hardening.cgroup-namespace", edit: "/^--unshare-cgroup$/d"},
		{name: "user namespace dropped", feature: "hardening.user-namespace", edit: "/^--unshare-user$/d",
			define: func(d *Definition) {
				// Without one the bounding set stays full, which would be caught first.
				d.Description.Policy.Hardening = d.Description.Policy.Hardening[1:]
			}},
		{name: "network namespace dropped", feature: "network.none", edit: "/^--unshare-net$/d"},
		{name: "capabilities kept", feature: "hardening.capabilities", edit: "s/^--cap-drop$/--cap-add/;s/^ALL$/CAP_CHOWN/"},
		{name: "a read-only bind made writable", feature: "mount", edit: "s/^--ro-bind$/--bind/"},
		{name: "a mount too many", feature: "mount", edit: "s/^--proc$/--tmpfs\\n\\/extra\\n--proc/"},
		{name: "a mount left out", feature: "mount", edit: "/^--tmpfs$/{N;d}"},
		{name: "another source", feature: "mount", edit: "/^--ro-bind$/{n;s/^\\/usr$/\\/etc/}", launch: func(l *runtime.Launch) { l.Argv = []string{"/workspace/run"} }},
		{name: "the host's proc", feature: "mount", edit: "s/^--proc$/--ro-bind\\n\\/proc/"},
		{name: "a variable added", feature: "environment", needsStop: true, edit: "1s/^/--setenv\\nLD_PRELOAD\\n\\/evil.so\\n/"},
		{name: "a variable changed", feature: "environment", needsStop: true, edit: "/^--setenv$/{n;n;s/.*/\\/evil/}", launch: func(l *runtime.Launch) { l.Argv[0] = "/bin/sh" }},
		{name: "a variable left out", feature: "environment", needsStop: true, edit: "/^--setenv$/{N;N;d}", launch: func(l *runtime.Launch) { l.Argv[0] = "/bin/sh" }},
		{name: "a descriptor leaked", feature: "streams.descriptors", body: "exec 9</etc/passwd\nexec env -i \"$BWRAP\" \"$@\"\n"},
		{name: "another program", feature: "command", needsStop: true,
			body: "a=; for w; do [ \"$w\" = /bin/sh ] && w=/bin/true; a=\"$a '$w'\"; done\neval \"set -- $a\"\nexec env -i \"$BWRAP\" \"$@\"\n", launch: func(l *runtime.Launch) { l.Argv = []string{"/bin/sh"} }},
		{name: "another directory", feature: "workdir", needsStop: true, edit: "/^--chdir$/{n;s/.*/\\//}", launch: func(l *runtime.Launch) { l.Dir = "/tmp" }},
		{name: "the user left alone", feature: "user.id", edit: "/^--uid$/{N;d};/^--gid$/{N;d}", launch: func(l *runtime.Launch) { l.User = runtime.User{Kind: runtime.UserID, UID: 1234, GID: 1235} }},
		{name: "user namespaces allowed", feature: "hardening.user-namespace-off", edit: "/^--disable-userns$/d;/^--dev$/{N;d}", launch: func(l *runtime.Launch) { l.Hardening.UserNamespaceOff = true },
			define: func(d *Definition) {
				// Without /dev there is no second namespace for an ordinary user either.
				m := d.Description.Policy.Mounts
				d.Description.Policy.Mounts = append(m[:len(m)-2:len(m)-2], m[len(m)-1])
			}},
		{name: "a writable root", feature: "hardening.read-only-root", edit: "/^--remount-ro$/{N;d}", launch: func(l *runtime.Launch) { l.Hardening.ReadOnlyRoot = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.needsStop && ptraceDenied() {
				t.Skip("seen only where the command is stopped at its exec")
			}
			if c.name == "user namespace dropped" && os.Getuid() != 0 {
				t.Skip("bubblewrap makes one by itself for an ordinary user")
			}
			d := tampered(t, c.edit)
			if c.body != "" {
				d = wrapped(t, c.body)
			}
			if c.define != nil {
				c.define(&d)
			}
			b := backend(t, d)
			l := sh("echo ran; /bin/sleep 0.2")
			l.Workspace = &runtime.Workspace{Source: writable}
			if c.launch != nil {
				c.launch(&l)
			}
			// The same launch passes while the wrapper only hands on, so that it is the edit that is caught.
			if c.name != "another source" {
				begin(t, b, l).wait(t)
			} else {
				probe(t, b)
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
			if strings.Contains(err.Error(), "/evil") {
				t.Errorf("a value stands in the failure: %v", err)
			}
		})
	}
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
