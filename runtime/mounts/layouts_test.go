package mounts_test

import (
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/mounts"
	"github.com/sbxkit/sbxkit/runtime/mounts/mountstest"
)

// perform carries a plan out on the model.
func perform(t testing.TB, host *mountstest.FS, ops []runtime.Mount) *mountstest.World {
	t.Helper()
	w := mountstest.NewWorld(host)
	for _, op := range ops {
		if err := w.Apply(op); err != nil {
			t.Fatalf("the tool would fail at %s %q at %q: %v\nplan:\n%s", op.Kind, op.Source, op.Target, err, lines(ops))
		}
	}
	return w
}

func lines(ops []runtime.Mount) string {
	var b strings.Builder
	for _, op := range ops {
		b.WriteString(string(op.Kind) + " " + op.Source + " " + op.Target + "  (" + op.Origin + ")\n")
	}
	return b.String()
}

func TestLayoutsOfRealDistributions(t *testing.T) {
	for _, l := range mountstest.Layouts() {
		t.Run(l.Name, func(t *testing.T) {
			res, err := mounts.Plan(mounts.Input{Mounts: l.Mounts, Host: l.Host})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("plan:\n%snotes: %q\ndropped: %q", lines(res.Mounts), res.Notes, res.Dropped)
			w := perform(t, l.Host, res.Mounts)
			for p, want := range l.Shows {
				seen, err := w.Look(p)
				if err != nil && want != "" {
					t.Errorf("%s: %v", p, err)
				}
				if seen.Host != want {
					t.Errorf("%s shows %q of the host, want %q", p, seen.Host, want)
				}
				place, err := res.At(p)
				if err != nil || place.Exists != (want != "") || want != "" && place.Host != want {
					t.Errorf("At(%s) = %+v, %v; want %q", p, place, err, want)
				}
			}
			for p, want := range l.Links {
				if seen := w.At(p); seen.Link != want {
					t.Errorf("%s is the link %q, want %q", p, seen.Link, want)
				}
			}
		})
	}
}
