//go:build linux

package enginetest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// filtering is a backend whose policy names a filter of system calls.
func (e engine) filtering(t *testing.T, file string) (sbx.Backend, *sbx.Sandbox) {
	t.Helper()
	b, err := e.backend(e.host)
	if err != nil {
		t.Fatal(err)
	}
	d := *b.Describe()
	d.Policy.Hardening = append(slices.Clone(d.Policy.Hardening), sbx.HardeningRule{Name: "hardening.seccomp-profile", Level: sbx.LevelRequired, Value: file})
	with := &permissive{b, b.(sbx.Ensurer), &d}
	box, err := sbx.New(with)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(box.Close(), b.(sbx.Closer).Close()); err != nil {
			t.Error(err)
		}
	})
	return with, box
}

// noDirectories is a filter that takes mkdir away.
const noDirectories = `{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1}]}
`

// TestThePolicysFilterOfSystemCallsStands: what it takes away is gone, in a container made by the request and in one made by the words, and it is
// the content that is planned.
func TestThePolicysFilterOfSystemCallsStands(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "filter.json")
		write := func(text string) {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(noDirectories)
		b, box := e.filtering(t, file)
		var out bytes.Buffer
		l := e.launch(&out)
		l.Script = &sbx.Script{Interpreter: []string{"sh"}, Text: []byte("mkdir /tmp/made || echo none; cat /proc/self/status")}
		res, err := box.Run(t.Context(), l)
		if err != nil || !res.Success() || !strings.Contains(out.String(), "none\n") || !strings.Contains(out.String(), "Seccomp:\t2\n") {
			t.Fatalf("%v, %v: %s", res, err, out.String())
		}
		i := slices.IndexFunc(res.Facts.Guarantees, func(g sbx.Guarantee) bool { return g.Name == "hardening.seccomp-profile" })
		if i < 0 || !strings.Contains(res.Facts.Guarantees[i].Claimed, "sha256:") {
			t.Fatalf("the guarantees are %+v", res.Facts.Guarantees)
		}
		if m := res.Facts.Guarantees[i].Measured; m != sbx.MeasuredHolds && m != sbx.MeasuredReadback {
			t.Errorf("measured %+v", res.Facts.Guarantees[i])
		}
		out.Reset()
		if res, err := e.box.Run(t.Context(), l); err != nil || strings.Contains(out.String(), "none\n") {
			t.Errorf("without it: %v, %v: %s", res, err, out.String())
		}

		made := &leftovers{}
		t.Cleanup(func() { made.remove(t, e) })
		bare := sbx.Launch{Argv: []string{"true"}, Image: sbx.Image{Ref: e.image}}
		differ, refused := e.compare(t, box, b, made, "seccomp-profile", bare)
		if refused != nil {
			t.Fatal(refused)
		}
		for _, d := range differ {
			if !slices.ContainsFunc(exceptions, func(x exception) bool { return x.covers(e.program, d) }) {
				t.Errorf("%s: by the words %s, by the request %s", d.field, d.words, d.request)
			}
		}

		before, err := box.Plan(t.Context(), bare)
		if err != nil {
			t.Fatal(err)
		}
		write(strings.Replace(noDirectories, "mkdirat", "rmdir", 1))
		after, err := box.Plan(t.Context(), bare)
		if err != nil || before.Digest() == after.Digest() {
			t.Errorf("the digest stays where the content does not: %v", err)
		}
		for text, kind := range map[string]error{"": sbx.ErrSetup, "[]": sbx.ErrSetup, "{}": sbx.ErrSetup} {
			write(text)
			if _, err := box.Plan(t.Context(), bare); !errors.Is(err, kind) || sbx.AsFailure(err, "").Feature != "hardening.seccomp-profile" {
				t.Errorf("a filter that reads %q: %v", text, err)
			}
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if _, err := box.Plan(t.Context(), bare); !errors.Is(err, sbx.ErrSetup) || sbx.AsFailure(err, "").Cure == "" {
			t.Errorf("a filter that is not there: %v", err)
		}
		bare.Hardening.SeccompProfile = "/dev/null"
		if _, err := e.box.Plan(t.Context(), bare); !errors.Is(err, sbx.ErrDenied) {
			t.Errorf("a launch that names its own: %v", err)
		}
		bare.Hardening.SeccompProfile, bare.Hardening.AppArmor = "", "unconfined"
		if _, err := e.box.Plan(t.Context(), bare); !errors.Is(err, sbx.ErrDenied) && !errors.Is(err, sbx.ErrUnsupported) {
			t.Errorf("a launch without a profile: %v", err)
		}
	})
}
