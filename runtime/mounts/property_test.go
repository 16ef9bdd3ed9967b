package mounts_test

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/mounts"
	"github.com/sbxkit/sbxkit/runtime/mounts/mountstest"
)

// scene is a random host with random requests.
type scene struct {
	host   *mountstest.FS
	mounts []runtime.Mount
}

// anyPath draws a path of few names, so that paths meet often.
func anyPath(maxDepth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, maxDepth).Draw(t, "path")
		return "/" + strings.Join(parts, "/")
	})
}

func scenes(links bool) *rapid.Generator[scene] {
	return rapid.Custom(func(t *rapid.T) scene {
		host := mountstest.New()
		free := func(p string) bool {
			for d := p; d != "/"; d = path.Dir(d) {
				if info, err := host.Lstat(d); err == nil && (d == p || !info.IsDir()) {
					return false
				}
			}
			return true
		}
		for range rapid.IntRange(1, 14).Draw(t, "entries") {
			p := anyPath(3).Draw(t, "entry")
			if !free(p) {
				continue
			}
			switch kind := rapid.IntRange(0, 9).Draw(t, "type"); {
			case kind < 5:
				host.Dir(p)
			case kind < 8 || !links:
				host.File(p, p)
			default:
				text := anyPath(3).Draw(t, "text")
				if rapid.Bool().Draw(t, "relative") {
					text = strings.Repeat("../", rapid.IntRange(0, 2).Draw(t, "up")) + text[1:]
				}
				host.Link(p, text)
			}
		}
		kinds := []runtime.MountKind{runtime.MountBindRO, runtime.MountBindRO, runtime.MountBindRO, runtime.MountBindRW, runtime.MountBindRW,
			runtime.MountTmpfs, runtime.MountMask, runtime.MountFile}
		if links {
			kinds = append(kinds, runtime.MountSymlink)
		}
		var list []runtime.Mount
		existing := host.Paths()
		for i := range rapid.IntRange(1, 6).Draw(t, "requests") {
			m := runtime.Mount{Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Target: anyPath(4).Draw(t, "target"), Origin: fmt.Sprint(i)}
			switch m.Kind {
			case runtime.MountBindRO, runtime.MountBindRW:
				m.Source = rapid.SampledFrom(existing).Draw(t, "source")
				m.Optional = m.Kind == runtime.MountBindRO && rapid.Bool().Draw(t, "optional")
				if rapid.IntRange(0, 3).Draw(t, "at itself") > 0 {
					m.Target = m.Source
				}
			case runtime.MountSymlink:
				m.Source = anyPath(3).Draw(t, "text")[rapid.IntRange(0, 1).Draw(t, "relative"):]
			case runtime.MountFile:
				m.Data = []byte("data " + m.Origin)
			}
			list = append(list, m)
		}
		return scene{host, list}
	})
}

// place finds where a request's target leads in the finished world; the last part of one that is a link, or became one because its source
// is, is not followed.
func place(host *mountstest.FS, w *mountstest.World, res *mounts.Result, m runtime.Mount) (mountstest.Seen, error) {
	dir, err := w.Look(path.Dir(m.Target))
	if err != nil {
		return dir, err
	}
	seen := w.At(path.Join(dir.Path, path.Base(m.Target)))
	if m.Kind == runtime.MountSymlink {
		return seen, nil
	}
	if text, err := host.Readlink(m.Source); err == nil && seen.Link == text && res.Mounts[seen.Op].Kind == runtime.MountSymlink {
		return seen, nil
	}
	return w.Look(m.Target)
}

// TestWhatIsVisibleIsTheMostSpecificRequest carries random plans out on the model: every operation succeeds, nothing is shadowed, each
// request's target shows what was asked for with the right to write that was asked for, and at every path the deepest request at or above
// it is what is seen.
func TestWhatIsVisibleIsTheMostSpecificRequest(t *testing.T) {
	for _, links := range []bool{false, true} {
		t.Run(fmt.Sprintf("links=%v", links), func(t *testing.T) {
			planned, refused := 0, 0
			rapid.Check(t, func(t *rapid.T) {
				s := scenes(links).Draw(t, "scene")
				res, err := mounts.Plan(mounts.Input{Mounts: s.mounts, Host: s.host})
				if err != nil {
					refused++
					var f *runtime.Failure
					if !errors.As(err, &f) || f.Kind == "" || f.Step != runtime.StepPlan {
						t.Fatalf("untyped refusal: %v", err)
					}
					return
				}
				planned++
				checkPlan(t, s, res, links)
			})
			t.Logf("%d planned, %d refused", planned, refused)
			if planned == 0 || refused == 0 {
				t.Errorf("the scenes show one side only: %d planned, %d refused", planned, refused)
			}
		})
	}
}

func checkPlan(t *rapid.T, s scene, res *mounts.Result, links bool) {
	t.Logf("host:\n%s", s.host)
	w := mountstest.NewWorld(s.host)
	for i, op := range res.Mounts {
		if err := w.Apply(op); err != nil {
			t.Fatalf("the tool would fail at %s: %v\n%s", op.Target, err, lines(res.Mounts))
		}
		for _, before := range res.Mounts[:i] {
			if before.Target == op.Target || strings.HasPrefix(before.Target, op.Target+"/") || op.Target == "/" {
				t.Fatalf("%s shadows %s", op.Target, before.Target)
			}
		}
	}
	dropped := func(m runtime.Mount) bool {
		return slices.ContainsFunc(res.Dropped, func(d runtime.Dropped) bool { return strings.HasPrefix(d.What, m.Origin+" (") })
	}
	// A mask that repeats a dropped one went with it.
	unmasked := map[string]bool{}
	for _, m := range s.mounts {
		if seen, err := place(s.host, w, res, m); err == nil && m.Kind == runtime.MountMask && dropped(m) {
			unmasked[seen.Path] = true
		}
	}
	at := map[string][]runtime.Mount{}
	for _, m := range s.mounts {
		if dropped(m) {
			continue
		}
		seen, err := place(s.host, w, res, m)
		if m.Kind == runtime.MountMask && err == nil && unmasked[seen.Path] {
			continue
		}
		if err != nil {
			t.Fatalf("%s cannot be reached: %v\n%s", m.Target, err, lines(res.Mounts))
		}
		if !links && seen.Path != m.Target {
			t.Fatalf("%s became %s without a link", m.Target, seen.Path)
		}
		at[seen.Path] = append(at[seen.Path], m)
	}
	for p, group := range at {
		seen := w.At(p)
		fits := 0
		for _, m := range group {
			if shows(t, s.host, w, seen, res, m) {
				fits++
			}
			op := runtime.Mount{}
			if seen.Op >= 0 {
				op = res.Mounts[seen.Op]
			}
			if m.Kind == runtime.MountBindRO && op.Kind == runtime.MountBindRW {
				t.Fatalf("%s was asked for read-only and is writable\n%s", p, lines(res.Mounts))
			}
			if m.Kind == runtime.MountMask && op.Kind != runtime.MountMaskFile && op.Kind != runtime.MountMaskDir {
				t.Fatalf("%s was to be masked and is not\n%s", p, lines(res.Mounts))
			}
		}
		if fits == 0 || len(group) == 1 && fits != 1 {
			t.Fatalf("%s does not show what was asked for: %+v\n%s", p, seen, lines(res.Mounts))
		}
	}
	// Most specific wins, at every path that anything could be seen at.
	for range 20 {
		p := anyPath(5).Draw(t, "look")
		seen, err := w.Look(p)
		if err != nil {
			continue // a file stands on the way, or a circle of links
		}
		p, best := seen.Path, ""
		for target := range at {
			if (target == p || target == "/" || strings.HasPrefix(p, target+"/")) && len(target) > len(best) {
				best = target
			}
		}
		got := ""
		if seen.Op >= 0 {
			got = res.Mounts[seen.Op].Target
		}
		if got != best {
			t.Fatalf("%s is shown by %q, the most specific request is at %q\n%s", p, got, best, lines(res.Mounts))
		}
	}
	checkHidden(t, s, res, w, at)
}

// shows reports whether a place shows what m asked for.
func shows(t *rapid.T, host *mountstest.FS, w *mountstest.World, seen mountstest.Seen, res *mounts.Result, m runtime.Mount) bool {
	if seen.Op < 0 {
		return false
	}
	op := res.Mounts[seen.Op]
	switch m.Kind {
	case runtime.MountBindRO, runtime.MountBindRW:
		real, err := host.Real(m.Source)
		if err != nil {
			t.Fatal(err)
		}
		end, err := w.Look(m.Target)
		return err == nil && end.Host == real
	case runtime.MountMask:
		return op.Target == seen.Path && (op.Kind == runtime.MountMaskFile || op.Kind == runtime.MountMaskDir)
	case runtime.MountSymlink:
		return seen.Link == m.Source
	case runtime.MountFile:
		return op.Target == seen.Path && string(op.Data) == string(m.Data)
	}
	return op.Target == seen.Path && op.Kind == m.Kind
}

// checkHidden looks for what a mask hides at every place that a bind could show it.
func checkHidden(t *rapid.T, s scene, res *mounts.Result, w *mountstest.World, at map[string][]runtime.Mount) {
	bare := mountstest.NewWorld(s.host)
	for _, op := range res.Mounts {
		if op.Kind == runtime.MountMaskFile || op.Kind == runtime.MountMaskDir {
			hidden := bare.At(op.Target).Host
			if len(at[op.Target]) > 1 {
				continue // it hides another request at its place, which is not in the plan
			}
			for _, b := range res.Mounts {
				if (b.Kind == runtime.MountBindRO || b.Kind == runtime.MountBindRW) && hidden != "" && b.Source != hidden &&
					(b.Source == "/" || strings.HasPrefix(hidden, b.Source+"/")) {
					there := path.Join(b.Target, strings.TrimPrefix(hidden[len(strings.TrimSuffix(b.Source, "/")):], "/"))
					// A bind of the hidden thing itself is a grant of its own.
					if seen := w.At(there); seen.Host == hidden && res.Mounts[seen.Op].Source != hidden {
						t.Fatalf("the mask at %s hides %s, which %s shows\n%s", op.Target, hidden, there, lines(res.Mounts))
					}
				}
			}
			continue
		}
		if err := bare.Apply(op); err != nil {
			return // a grant below a mask, whose parents only the mask had
		}
	}
}
