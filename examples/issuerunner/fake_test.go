package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sbxkit/sbxkit/examples/issuerunner/control"
	"github.com/sbxkit/sbxkit/generated/fake"
	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/script"
)

// tree is what a command leaves of the demonstration's tree, with these files instead of its own; an empty one is gone.
func tree(changed map[string]string) (files []script.Artifact) {
	all := map[string]string{"README": "A small project.\n", "greeting.txt": "hello wrld\n", "count.sh": "seq 1 3\n", "notes/todo": "nothing\n"}
	for name, text := range changed {
		all[name] = text
	}
	for name, text := range all {
		if text != "" {
			files = append(files, script.Artifact{Path: "/workspace/" + name, Data: []byte(text)})
		}
	}
	return files
}

// forIssue plays a script for the launches of one issue.
func forIssue(id string, sc *script.Script) *script.Script {
	sc.Match = func(r *sbx.Request) bool { return slices.Contains(r.Labels, sbx.Label{Name: "issue", Value: id}) }
	return sc
}

// played runs f in a bubble with a controller over a fake that plays sc.
func played(t *testing.T, sc *script.Script, f func(t *testing.T, r *control.Runner, c control.Config, b *fake.Backend)) {
	t.Helper()
	playedIn(t, t.TempDir(), sc, f)
}

func playedIn(t *testing.T, dir string, sc *script.Script, f func(t *testing.T, r *control.Runner, c control.Config, b *fake.Backend)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b, err := fake.New(fake.Options{World: script.NewWorld(), Script: sc})
		if err != nil {
			t.Fatal(err)
		}
		r, c, err := open(t.Context(), b, dir)
		if err != nil {
			t.Fatal(err)
		}
		f(t, r, c, b)
		if err := errors.Join(r.Close(), b.World().Check()); err != nil {
			t.Error(err)
		}
		if left := b.World().Resources(); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
		if err := b.World().Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestARefusalBeforeTheChargeCountsNothing(t *testing.T) {
	for _, c := range []struct {
		at   script.Op
		kind sbx.Kind
	}{
		{script.OnProbe, sbx.Unsupported}, {script.OnProbe, sbx.Setup}, {script.OnPlan, sbx.Denied}, {script.OnPrepare, sbx.Setup},
		{script.OnPrepare, sbx.Denied}, {script.OnStage, sbx.Setup}, {script.OnStage, sbx.Denied},
	} {
		t.Run(string(c.at)+" "+string(c.kind), func(t *testing.T) {
			sc := &script.Script{Artifacts: tree(map[string]string{"greeting.txt": "hello world\n"}), Faults: []script.Fault{script.Refuse(c.at, c.kind, "not today")}}
			played(t, sc, func(t *testing.T, r *control.Runner, cfg control.Config, _ *fake.Backend) {
				path := filepath.Join(cfg.Dir, "state.json")
				for _, work := range []func() error{
					func() error { return r.Work(t.Context(), cfg.Issues[0]) },
					func() error { return r.Schedule(t.Context(), 3) },
				} {
					err := work()
					var f *sbx.Failure
					if !errors.As(err, &f) || f.Kind != c.kind || f.Charged {
						t.Errorf("got %v, want %s", err, c.kind)
					}
				}
				if p := r.Progress("1"); p != (control.Progress{State: control.Open}) {
					t.Errorf("after two refusals the progress is %+v", p)
				}
				if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the counters were written: %v", err)
				}
			})
		})
	}
}

func TestAFailureAfterTheChargeCounts(t *testing.T) {
	for _, c := range []struct {
		name string
		sc   script.Script
	}{
		{"start", script.Script{Faults: []script.Fault{script.Refuse(script.OnStart, sbx.Setup, "no")}}},
		{"exit 1", script.Script{Do: []script.Action{script.Exit(1)}, Artifacts: tree(map[string]string{"greeting.txt": "hello world\n"})}},
		{"vanished", script.Script{Do: []script.Action{script.Vanish()}, Artifacts: tree(map[string]string{"greeting.txt": "hello world\n"})}},
		{"hangs", script.Script{Do: []script.Action{script.Hang()}, Artifacts: tree(map[string]string{"greeting.txt": "hello world\n"})}},
		{"partial export", script.Script{Artifacts: tree(map[string]string{"greeting.txt": "hello world\n"}), ExportStops: 2}},
		{"changes nothing", script.Script{Artifacts: tree(nil)}},
		{"changes too much", script.Script{Artifacts: tree(map[string]string{"greeting.txt": "hello world\n", "README": "x\n"})}},
		{"removes too much", script.Script{Artifacts: tree(map[string]string{"greeting.txt": "hello world\n", "README": ""})}},
		{"a repository of its own", script.Script{Artifacts: append(tree(map[string]string{"greeting.txt": "hello world\n"}), script.Artifact{Path: "/workspace/.git/config", Data: []byte("x")})}},
		{"a link", script.Script{Artifacts: append(tree(map[string]string{"greeting.txt": ""}), script.Artifact{Path: "/workspace/greeting.txt", Mode: os.ModeSymlink, Link: "README"})}},
	} {
		t.Run(c.name, func(t *testing.T) {
			played(t, &c.sc, func(t *testing.T, r *control.Runner, cfg control.Config, _ *fake.Backend) {
				if err := r.Work(t.Context(), cfg.Issues[0]); err != nil {
					t.Error(err)
				}
				p := r.Progress("1")
				if p.State != control.Failed || p.Attempts != cfg.Attempts || p.Why == "" || p.Commit != "" {
					t.Errorf("%+v", p)
				}
				if id, err := cfg.Git.Candidate(t.Context(), "1"); err != nil || id != "" {
					t.Errorf("candidate %q, %v", id, err)
				}
			})
		})
	}
}

// TestOneAndManyAreLaunchedAlike works on the same issues one by one and, from the beginning again, by the scheduler.
func TestOneAndManyAreLaunchedAlike(t *testing.T) {
	good := &script.Script{Do: []script.Action{script.Sleep(time.Minute)}, Artifacts: tree(map[string]string{"AUTHORS": "everybody\n"})}
	bad := &script.Script{Do: []script.Action{script.Sleep(time.Minute), script.Exit(1)}}
	plans := map[string]map[string]string{}
	dir := t.TempDir()
	for name, work := range map[string]func(context.Context, *control.Runner, control.Config) error{
		"one": func(ctx context.Context, r *control.Runner, c control.Config) error {
			for _, i := range c.Issues {
				if err := r.Work(ctx, i); err != nil {
					return err
				}
			}
			return nil
		},
		"many": func(ctx context.Context, r *control.Runner, c control.Config) error { return r.Schedule(ctx, 4) },
	} {
		playedIn(t, dir, bad, func(t *testing.T, r *control.Runner, cfg control.Config, b *fake.Backend) {
			b.Play(forIssue("3", good))
			began := time.Now()
			if err := work(t.Context(), r, cfg); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); name == "one" != (took >= 16*time.Minute) {
				t.Errorf("16 attempts of a minute took %v", took)
			}
			plans[name] = map[string]string{}
			for _, i := range cfg.Issues {
				p := r.Progress(i.ID)
				want, attempts := control.Failed, cfg.Attempts
				if i.ID == "3" {
					want, attempts = control.Imported, 1
				}
				if p.State != want || p.Attempts != attempts {
					t.Errorf("issue %s: %+v", i.ID, p)
				}
				plans[name][i.ID] = p.Plan
			}
			for _, inv := range b.World().Runs() {
				if !slices.Contains(slices.Collect(maps.Values(plans[name])), inv.PlanDigest) {
					t.Errorf("an attempt had the plan %s, which the last one of no issue has", inv.PlanDigest)
				}
			}
		})
		if err := errors.Join(os.RemoveAll(filepath.Join(dir, "state")), os.RemoveAll(filepath.Join(dir, "repository"))); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]string{}
	for id, plan := range plans["one"] {
		if plan == "" || plans["many"][id] != plan {
			t.Errorf("issue %s has the plan %q alone and %q by the scheduler", id, plan, plans["many"][id])
		}
		if other := seen[plan]; other != "" {
			t.Errorf("issues %s and %s have the same plan", id, other)
		}
		seen[plan] = id
	}
}

func TestASecondControllerIsKeptOut(t *testing.T) {
	played(t, nil, func(t *testing.T, r *control.Runner, cfg control.Config, _ *fake.Backend) {
		if s, err := control.OpenState(cfg.Dir); err == nil {
			t.Error("two controllers have the counters open", s.Close())
		}
	})
}

func TestTheEndOfTheContextSettlesWhatWasCharged(t *testing.T) {
	played(t, &script.Script{Do: []script.Action{script.Hang()}}, func(t *testing.T, r *control.Runner, cfg control.Config, _ *fake.Backend) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := r.Schedule(ctx, 2); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		attempts := 0
		for _, i := range cfg.Issues {
			p := r.Progress(i.ID)
			if attempts += p.Attempts; p.State != control.Open || p.Attempts > 1 {
				t.Errorf("issue %s: %+v", i.ID, p)
			}
		}
		if attempts != 2 {
			t.Errorf("%d attempts of two workers", attempts)
		}
	})
}
