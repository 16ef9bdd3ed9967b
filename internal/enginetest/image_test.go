//go:build linux

package enginetest

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	sbx "github.com/sbxkit/sbxkit/runtime"
	driver "github.com/sbxkit/sbxkit/runtime/engine"
)

// eventually waits for a condition.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v until %s", deadline, what)
		}
	}
}

// forget removes what the engine has of a reference, at the end of the test.
func (e engine) forget(t *testing.T, ref string) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		defer cancel()
		if _, err := e.ask(ctx, "rmi", "--force", ref); err != nil {
			t.Error(err)
		}
	})
}

// TestAnAbsentImageIsFetchedAsThePolicySays pulls from a registry of its own by each policy.
func TestAnAbsentImageIsFetchedAsThePolicySays(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		e = e.trusting(t)
		r := newRegistry(t)
		box := e.pulling(t)
		first := r.push("1")
		ref := r.ref("1")
		ensure := func(policy sbx.PullPolicy, ref string) (*sbx.ImageFacts, []string, error) {
			var said []string
			ctx, cancel := context.WithTimeout(t.Context(), deadline)
			defer cancel()
			facts, err := box.Ensure(ctx, sbx.Image{Ref: ref, Pull: policy}, func(line string) { said = append(said, line) })
			return facts, said, err
		}

		for p, ensure := range map[sbx.PullPolicy]func() (*sbx.ImageFacts, []string, error){
			sbx.PullNever: func() (*sbx.ImageFacts, []string, error) { return ensure(sbx.PullNever, ref) },
			// The generated policy's own.
			sbx.PullDefault: func() (*sbx.ImageFacts, []string, error) {
				facts, err := e.box.Ensure(t.Context(), sbx.Image{Ref: ref}, nil)
				return facts, nil, err
			},
		} {
			_, said, err := ensure()
			f := sbx.AsFailure(err, "")
			if !errors.Is(err, sbx.ErrSetup) || !strings.Contains(f.Cure, " pull "+ref) || len(said) != 0 || r.manifests() != 0 {
				t.Fatalf("%q: %v, cure %q, said %q", p, err, f.Cure, said)
			}
		}
		res, err := e.box.Run(t.Context(), sbx.Launch{Argv: []string{"true"}, Image: sbx.Image{Ref: ref}})
		if res.Outcome != sbx.NeverRan || res.ExitCode() != 125 || !errors.Is(err, sbx.ErrSetup) {
			t.Errorf("a launch of an absent image: %v, %v", res, err)
		}

		facts, said, err := ensure(sbx.PullMissing, ref)
		if err != nil || facts.Digest != first || len(said) == 0 {
			t.Fatalf("%+v, %v, said %q; want %s", facts, err, said, first)
		}
		e.forget(t, facts.ID)
		t.Logf("the first pull said %d lines, the last %q", len(said), said[len(said)-1])
		r.manifests()
		if again, said, err := ensure(sbx.PullMissing, ref); err != nil || *pinned(again) != *pinned(facts) || len(said) != 0 || r.manifests() != 0 {
			t.Errorf("there already: %+v, %v, said %q", again, err, said)
		}
		digest := r.ref(first)
		res, err = box.Run(t.Context(), sbx.Launch{Argv: []string{"true"}, Image: sbx.Image{Ref: digest, Pull: sbx.PullNever}})
		if err != nil || !res.Success() || res.Facts.Image == nil || res.Facts.Image.Digest != first {
			t.Errorf("a launch of %s: %v, %v, %+v", digest, res, err, res.Facts.Image)
		}

		// The tag moves: only always sees it.
		second := r.push("1")
		if same, _, err := ensure(sbx.PullMissing, ref); err != nil || same.Digest != first {
			t.Errorf("missing: %+v, %v", same, err)
		}
		moved, said, err := ensure(sbx.PullAlways, ref)
		if err != nil || moved.Digest != second || moved.ID == facts.ID || len(said) == 0 || r.manifests() == 0 {
			t.Fatalf("always: %+v, %v, said %q; want %s", moved, err, said, second)
		}
		e.forget(t, moved.ID)
		if old, _, err := ensure(sbx.PullNever, ref); err != nil || old.Digest != second {
			t.Errorf("never: %+v, %v", old, err)
		}
		third := r.push("1")
		res, err = box.Run(t.Context(), sbx.Launch{Argv: []string{"true"}, Image: sbx.Image{Ref: ref, Pull: sbx.PullAlways}})
		if err != nil || !res.Success() || res.Facts.Image.Digest != third {
			t.Errorf("a launch that always pulls: %v, %v", res, err)
		}
		e.forget(t, ref)

		for name, ref := range map[string]string{"an unknown tag": r.ref("none"), "a registry that is not there": "127.0.0.1:1/sbx/toolbox:1"} {
			_, _, err := ensure(sbx.PullMissing, ref)
			if f := sbx.AsFailure(err, ""); !errors.Is(err, sbx.ErrSetup) || !strings.Contains(f.Cure, " pull "+ref) {
				t.Errorf("%s: %v, cure %q", name, err, f.Cure)
			}
		}
	})
}

// pulling gives a driver whose policy lets a launch fetch its image.
func (e engine) pulling(t *testing.T) *sbx.Sandbox {
	t.Helper()
	b, err := e.backend(e.host)
	if err != nil {
		t.Fatal(err)
	}
	d := *b.Describe()
	d.Policy.Image.Pull = sbx.PullAlways
	box, err := sbx.New(&permissive{b, b.(sbx.Ensurer), &d})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(box.Close(), b.(sbx.Closer).Close()); err != nil {
			t.Error(err)
		}
	})
	return box
}

// permissive is a backend with another policy.
type permissive struct {
	sbx.Backend
	sbx.Ensurer
	d *sbx.Description
}

func (p *permissive) Describe() *sbx.Description { return p.d }

// pinned is what of an image's facts can be compared.
func pinned(f *sbx.ImageFacts) *struct{ ref, id, digest string } {
	return &struct{ ref, id, digest string }{f.Ref, f.ID, f.Digest}
}

// TestTheCureOfAnAbsentImageCuresIt pastes it into a shell.
func TestTheCureOfAnAbsentImageCuresIt(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		e = e.trusting(t)
		r := newRegistry(t)
		r.push("1")
		l := sbx.Launch{Argv: []string{"true"}, Image: sbx.Image{Ref: r.ref("1")}}
		_, err := e.box.Run(t.Context(), l)
		cure, ok := strings.CutPrefix(sbx.AsFailure(err, "").Cure, "run: ")
		if !ok {
			t.Fatalf("%v", err)
		}
		//sbx:allow rawshell a cure is for a person's shell
		shell := exec.CommandContext(t.Context(), "/bin/sh", "-c", cure)
		shell.Env = reader()
		if out, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", cure, err, out)
		}
		e.forget(t, r.ref("1"))
		if res, err := e.box.Run(t.Context(), l); err != nil || !res.Success() {
			t.Errorf("after %s: %v, %v", cure, res, err)
		}
	}, driver.ViaAPI)
}
