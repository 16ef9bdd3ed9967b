package spec

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryBuiltinSpecLoads(t *testing.T) {
	for _, name := range Builtins() {
		t.Run(name, func(t *testing.T) {
			b, err := Builtin(name)
			if err != nil {
				t.Fatal(err)
			}
			if b.Name != name {
				t.Errorf("the spec %s.yaml calls itself %q", name, b.Name)
			}
		})
	}
}

// builtin loads a built-in spec.
func builtin(t *testing.T, name string) *Backend {
	t.Helper()
	b, err := Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestEveryBuiltinSpecIsThere(t *testing.T) {
	if got, want := Builtins(), []string{"bwrap", "docker", "fake", "local", "podman"}; !slices.Equal(got, want) {
		t.Errorf("built-in specs are %v, want %v", got, want)
	}
	if _, err := Builtin("dokcer"); err == nil || !strings.Contains(err.Error(), `did you mean "docker"?`) {
		t.Errorf("an unknown one gives %v", err)
	}
}

func TestProgramsAreThoseADirectLaunchWouldUse(t *testing.T) {
	got, err := Programs()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"bwrap", "docker", "finch", "nerdctl", "podman", "podman-remote"}; !slices.Equal(got, want) {
		t.Errorf("programs are %v, want %v", got, want)
	}
}

// The properties every shipped sandbox has; one that loses them has to be argued for here.
func TestBuiltinPoliciesAreSecureByDefault(t *testing.T) {
	for _, name := range []string{"bwrap", "docker", "podman"} {
		b := builtin(t, name)
		level := map[string]Level{}
		for _, h := range b.Policy.Hardening {
			level[h.Name] = h.Level
		}
		for _, must := range []string{"no-new-privileges", "capabilities", "pid-namespace", "ipc-namespace", "uts-namespace", "new-session", "read-only-root"} {
			if level["hardening."+must] != LevelRequired {
				t.Errorf("%s: %s is %q", name, must, level["hardening."+must])
			}
		}
		if b.Policy.Network.Default != "none" {
			t.Errorf("%s: the network is %s", name, b.Policy.Network.Default)
		}
		for _, m := range b.Policy.Mounts {
			if slices.Contains(wideMounts, m.Kind) {
				t.Errorf("%s: every run gets %s", name, m.says())
			}
		}
		if len(b.Policy.Sockets) != 0 || b.Unsandboxed {
			t.Errorf("%s: sockets %v, unsandboxed %v", name, b.Policy.Sockets, b.Unsandboxed)
		}
		forward := plainTexts(b.Policy.Environment.Forward)
		if !slices.Equal(forward, []string{"LANG", "LC_ALL", "TZ"}) {
			t.Errorf("%s forwards %v", name, forward)
		}
		for _, limit := range []string{"limits.open-files", "limits.core", "limits.file-size", "limits.output"} {
			if !slices.ContainsFunc(b.Policy.Limits, func(l LimitRule) bool { return l.Name == limit && l.Default != nil }) {
				t.Errorf("%s: no default of %s", name, limit)
			}
		}
	}
}

func TestNoBuiltinEngineRemovesByItself(t *testing.T) {
	for _, name := range []string{"docker", "podman"} {
		for _, e := range builtin(t, name).Words {
			if e.Flag == "--rm" || e.Flag == "--privileged" || e.Flag == "--cap-add" || e.Flag == "--volume" {
				t.Errorf("%s: %s", e.Pos, e.Flag)
			}
		}
	}
}

// Each rule is one of bubblewrap's own: it refuses, ignores or misapplies the second without the first before it.
func TestWordsOfBwrapStandInTheOrderItNeeds(t *testing.T) {
	b := builtin(t, "bwrap")
	at := func(find func(Entry) bool) int {
		i := slices.IndexFunc(b.Words, find)
		if i < 0 {
			t.Fatal("a word is missing")
		}
		return i
	}
	flag := func(name string) func(Entry) bool { return func(e Entry) bool { return e.Flag == name } }
	mounts := func(e Entry) bool { return e.Each == "mount" }
	for _, c := range []struct {
		rule          string
		first, second func(Entry) bool
	}{
		{"the variables are set after all were cleared", flag("--clearenv"), flag("--setenv")},
		{"the root is made read-only after all mount points are made in it", mounts, flag("--remount-ro")},
		{"the directory is entered after it is mounted", mounts, flag("--chdir")},
		{"options end before the command", flag("--chdir"), func(e Entry) bool { return e.Word == "--" }},
	} {
		if at(c.first) >= at(c.second) {
			t.Errorf("%s: it does not", c.rule)
		}
	}
	needs := map[string]string{"--uid": "--unshare-user", "--gid": "--unshare-user", "--disable-userns": "--unshare-user", "--hostname": "--unshare-uts"}
	for dependent, base := range needs {
		d, u := b.Words[at(flag(dependent))], b.Words[at(flag(base))]
		for _, name := range d.For {
			if !slices.Contains(u.For, name) {
				t.Errorf("%s stands for %s, and %s, which it is refused without, does not", dependent, name, base)
			}
		}
	}
}

func TestModifiersOfBwrapStandBeforeTheirOneOperation(t *testing.T) {
	for _, e := range builtin(t, "bwrap").Words {
		for _, s := range e.Spell {
			for i, one := range s.Entries {
				modifier := one.Flag == "--perms" || one.Flag == "--size"
				if modifier && i == len(s.Entries)-1 {
					t.Errorf("%s: %s modifies nothing", one.Pos, one.Flag)
				}
				if i > 0 && (s.Entries[i-1].Flag == "--perms" || s.Entries[i-1].Flag == "--size") && !modifier && one.Flag == "--remount-ro" {
					t.Errorf("%s: %s stands before an operation it does not modify", one.Pos, s.Entries[i-1].Flag)
				}
			}
		}
	}
}
