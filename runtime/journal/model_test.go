package journal_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

// modelRun is what a run must be.
type modelRun struct {
	record runtime.Record
	holder runtime.JournalEntry // nil where nobody holds the lock
}

// Any order of operations by two controllers of one state directory leaves what a map of records and locks would hold.
func TestAnyOrderOfOperations(t *testing.T) {
	base := t.TempDir()
	dirs := 0
	rapid.Check(t, func(rt *rapid.T) {
		ctx := context.Background()
		dirs++
		dir := filepath.Join(base, fmt.Sprint(dirs))
		var js [2]*journal.Journal
		for n := range js {
			j, err := journal.Open(ctx, dir)
			if err != nil {
				rt.Fatal(err)
			}
			js[n] = j
		}
		runs := map[string]*modelRun{}
		ids := rapid.SampledFrom([]string{"a", "b", "c"})
		which := rapid.IntRange(0, 1)
		check := func(what string, err, want error) {
			if !errors.Is(err, want) {
				rt.Fatalf("%s: %v, want %v", what, err, want)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"create": func(rt *rapid.T) {
				j, id := js[which.Draw(rt, "j")], ids.Draw(rt, "id")
				rec := record(j, id)
				e, err := j.Create(ctx, rec)
				if runs[id] != nil {
					check("creating what exists", err, fs.ErrExist)
					return
				}
				check("create", err, nil)
				runs[id] = &modelRun{rec, e}
			},
			"take": func(rt *rapid.T) {
				j, id := js[which.Draw(rt, "j")], ids.Draw(rt, "id")
				e, err := j.Take(ctx, id)
				switch r := runs[id]; {
				case r == nil:
					check("taking nothing", err, fs.ErrNotExist)
				case r.holder != nil:
					check("taking what is held", err, runtime.ErrBusy)
				default:
					check("take", err, nil)
					r.holder = e
				}
			},
			"update": func(rt *rapid.T) {
				id := ids.Draw(rt, "id")
				r := runs[id]
				if r == nil || r.holder == nil {
					rt.Skip()
				}
				rec := r.holder.Record()
				rec.Code = rapid.Int().Draw(rt, "code")
				rec.Step = rapid.SampledFrom(runtime.Steps()).Draw(rt, "step")
				check("update", r.holder.Update(rec, rapid.Bool().Draw(rt, "sync")), nil)
				r.record = rec
			},
			"close": func(rt *rapid.T) {
				r := runs[ids.Draw(rt, "id")]
				if r == nil || r.holder == nil {
					rt.Skip()
				}
				check("close", r.holder.Close(), nil)
				check("update after close", r.holder.Update(r.record, false), os.ErrClosed)
				r.holder = nil
			},
			"remove": func(rt *rapid.T) {
				id := ids.Draw(rt, "id")
				r := runs[id]
				if r == nil || r.holder == nil {
					rt.Skip()
				}
				check("remove", r.holder.Remove(), nil)
				delete(runs, id)
			},
			"": func(rt *rapid.T) {
				seen := map[string]bool{}
				err := js[which.Draw(rt, "j")].List(ctx, func(got runtime.Record, live bool) error {
					r := runs[got.Run.ID]
					seen[got.Run.ID] = true
					if r == nil || live != (r.holder != nil) || !reflect.DeepEqual(got, r.record) {
						rt.Fatalf("listed %+v (live %v), want %+v", got, live, r)
					}
					return nil
				}, func(p string, err error) { rt.Fatalf("bad: %s: %v", p, err) })
				check("list", err, nil)
				if len(seen) != len(runs) {
					rt.Fatalf("listed %v, want %d runs", seen, len(runs))
				}
			},
		})
		for _, r := range runs {
			if r.holder != nil {
				check("close", r.holder.Close(), nil)
			}
		}
	})
}
