package process

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/cgroup"
)

// refusing is bubblewrap on a host that refuses it something: it answers what it is asked, and a launch whose words hold word (any launch, where
// word is empty) ends as it does there, with its own message and status 1.
func refusing(t *testing.T, word, message string) Definition {
	t.Helper()
	d := wrapped(t, `
case "$1" in --help|--version) exec env -i "$BWRAP" "$@" ;; esac
tr '\0' '\n' <&3 >"$0.words.$$"
if [ -z "`+word+`" ] || grep -qx -e "`+word+`" "$0.words.$$"; then
	echo "bwrap: `+message+`" >&2
	exit 1
fi
tr '\n' '\0' <"$0.words.$$" >"$0.file.$$"
exec 3<"$0.file.$$"
rm -f "$0.words.$$" "$0.file.$$"
exec env -i "$BWRAP" "$@"
`)
	tamper(t, d)
	return d
}

// on puts another host around the probe.
func on(t *testing.T, h host) {
	t.Helper()
	here := around
	t.Cleanup(func() { around = here })
	if h.setting == nil {
		h.setting = func(string) string { return "" }
	}
	if h.filtered == nil {
		h.filtered = func() bool { return false }
	}
	if h.groups == nil {
		h.groups = here.groups
	}
	around = h
}

func settings(m map[string]string) func(string) string {
	return func(path string) string { return m[path] }
}

// TestWhatAHostRefusesIsFoundByLaunchingAndSaidWithItsCure has the messages of bubblewrap 0.8.0 on such hosts.
func TestWhatAHostRefusesIsFoundByLaunchingAndSaidWithItsCure(t *testing.T) {
	appArmor := map[string]string{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1"}
	for _, c := range []struct {
		name          string
		word, message string
		host          host
		feature       string
		why, cure     string
	}{
		{name: "AppArmor restricts user namespaces", message: "setting up uid map: Permission denied",
			host: host{uid: 1000, setting: settings(appArmor)}, feature: "hardening.user-namespace", why: "AppArmor", cure: "/etc/apparmor.d/bwrap"},
		{name: "AppArmor restricts ordinary users alone", message: "setting up uid map: Permission denied",
			host: host{uid: 0, setting: settings(appArmor)}, feature: "hardening.user-namespace", why: "none of the settings", cure: "dmesg"},
		{name: "the kernel refuses user namespaces to ordinary users", message: "No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.",
			host: host{uid: 1000, setting: settings(map[string]string{"/proc/sys/kernel/unprivileged_userns_clone": "0"})}, feature: "hardening.user-namespace", cure: "unprivileged_userns_clone=1"},
		{name: "no user namespace is left", message: "Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
			host: host{setting: settings(map[string]string{"/proc/sys/user/max_user_namespaces": "0"})}, feature: "hardening.user-namespace", cure: "user.max_user_namespaces"},
		{name: "a container's filter", message: "Creating new namespace failed: Operation not permitted",
			host: host{filtered: func() bool { return true }}, feature: "hardening.user-namespace", why: "as in a container", cure: "seccomp=unconfined"},
		{name: "a container's masked proc", word: "--proc", message: "Can't mount proc on /newroot/proc: Operation not permitted",
			feature: "mount.proc", why: "inside a container", cure: "systempaths=unconfined"},
		{name: "a container without a network of its own to give", word: "--unshare-net", message: "loopback: Failed RTM_NEWADDR: Operation not permitted",
			feature: "network.none", cure: "CAP_NET_ADMIN"},
		{name: "a user namespace alone", word: "--unshare-user", message: "setting up uid map: Permission denied",
			host: host{uid: 1000, setting: settings(appArmor)}, feature: "hardening.user-namespace", why: "AppArmor", cure: "/etc/apparmor.d/bwrap"},
	} {
		t.Run(c.name, func(t *testing.T) {
			on(t, c.host)
			b := backend(t, refusing(t, c.word, c.message))
			_, err := b.Probe(context.Background(), runtime.ProbeRequest{})
			f := runtime.AsFailure(err, runtime.Setup)
			if !errors.Is(err, runtime.ErrUnsupported) || f.Step != runtime.StepProbe || f.Feature != c.feature {
				t.Fatalf("got %v about %q, want unsupported about %s", err, f.Feature, c.feature)
			}
			if !strings.Contains(err.Error(), c.why) || !strings.Contains(f.Cure, c.cure) {
				t.Errorf("%v does not say %q with the cure %q", err, c.why, c.cure)
			}
			if cause := causes(err); !strings.Contains(cause, c.message) {
				t.Errorf("what bubblewrap said is lost: %s", cause)
			}
		})
	}
}

// causes is an error's text with those of everything it wraps.
func causes(err error) string {
	var all []string
	for ; err != nil; err = errors.Unwrap(err) {
		all = append(all, err.Error())
	}
	return strings.Join(all, "\n")
}

// TestWhatAPolicyOnlyPrefersIsNotedAsAbsent: the host goes without it, and says so.
func TestWhatAPolicyOnlyPrefersIsNotedAsAbsent(t *testing.T) {
	on(t, host{})
	d := refusing(t, "--disable-userns", "cannot open /proc/sys/user/max_user_namespaces: Read-only file system")
	d.Description.Policy.Hardening = append(d.Description.Policy.Hardening, runtime.HardeningRule{Name: "hardening.user-namespace-off", Level: runtime.LevelPreferred})
	b := backend(t, d)
	id, err := b.Probe(context.Background(), runtime.ProbeRequest{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(id.Absent, func(a runtime.Absence) bool { return a.Feature == "hardening.user-namespace-off" })
	if i < 0 || id.Absent[i].Why == "" || id.Absent[i].Cure == "" {
		t.Errorf("absent: %+v", id.Absent)
	}
	if e := begin(t, b, sh("true")).wait(t); e.Code != 0 {
		t.Errorf("exit %+v", e)
	}
}

// TestAHostThatDelegatesNoControlGroupSaysHow: the probe passes, and each limit that needs one is absent with a cure.
func TestAHostThatDelegatesNoControlGroupSaysHow(t *testing.T) {
	on(t, host{groups: func() (*cgroup.Host, error) { return &cgroup.Host{Mode: "none"}, nil }})
	both(t, func(t *testing.T, b *Backend) {
		absent := map[string]runtime.Absence{}
		for _, a := range probe(t, b).Absent {
			absent[a.Feature] = a
		}
		for _, n := range cgroup.Limits {
			a, ok := absent[n]
			if !ok || a.Why == "" || !strings.Contains(a.Cure, "Delegate=yes") {
				t.Errorf("%s: %+v", n, a)
			}
			l := sh("true")
			if !l.Limits.Put(n, runtime.AtMost(1<<30)) {
				continue // the processors' list, which is no number
			}
			if n == "limits.swap" {
				l.Limits.Memory = runtime.AtMost(1 << 30)
			}
			if _, err := tryPlan(t, b, l, newRun()); !errors.Is(err, runtime.ErrUnsupported) || !strings.Contains(runtime.AsFailure(err, runtime.Setup).Cure, "Delegate=yes") {
				t.Errorf("%s: %v", n, err)
			}
		}
	})
}
