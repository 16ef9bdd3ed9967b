package conformance

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/sbxtest"
)

// described is a backend with another description.
type described struct {
	runtime.Backend
	d *runtime.Description
}

func (b *described) Describe() *runtime.Description { return b.d }

// wrong makes subjects of a mutant: each a fake of its own, behind the mutant's hooks.
func (m mutant) wrong(ctx context.Context) (*sbxtest.Subject, error) {
	s, err := Fake(ctx)
	if err != nil {
		return nil, err
	}
	spoil := func(b runtime.Backend) runtime.Backend {
		if m.hooks != nil {
			b = sbxtest.Wrap(b, m.hooks())
		}
		if m.change != nil {
			d := *b.Describe()
			m.change(&d)
			b = &described{b, &d}
		}
		return b
	}
	s.Backend = spoil(s.Backend)
	next := s.Next
	s.Next = func() (runtime.Backend, error) {
		b, err := next()
		if err != nil {
			return nil, err
		}
		return spoil(b), nil
	}
	return s, nil
}

// TestEveryMutantIsCaughtByItsCheck holds the suite to what it is for: a backend that is wrong in one way fails the check named for it.
// That the check passes on a right backend is TestFake's.
func TestEveryMutantIsCaughtByItsCheck(t *testing.T) {
	all := mutants()
	if len(all) < 30 {
		t.Errorf("there are %d mutants", len(all))
	}
	groups := map[string]bool{}
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			i := slices.IndexFunc(sbxtest.Checks(), func(c sbxtest.Check) bool { return c.Name == m.caught })
			if i < 0 {
				t.Fatalf("there is no check %q", m.caught)
			}
			groups[sbxtest.Checks()[i].Group] = true
			synctest.Test(t, func(t *testing.T) {
				rep := sbxtest.CheckBackend(t.Context(), m.wrong, sbxtest.Options{Timeout: bubbled.Timeout, Only: []string{m.caught}})
				time.Sleep(2 * time.Hour) // what a mutant left has ended
				if len(rep.Rows) != 1 || rep.Rows[0].Status != sbxtest.Failed {
					t.Errorf("the suite does not catch it: %+v (%v)", rep.Rows, rep.Failure)
					return
				}
				for _, p := range rep.Rows[0].Problems {
					t.Logf("caught: %s", p)
				}
			})
		})
	}
	for _, c := range sbxtest.Checks() {
		if !groups[c.Group] {
			t.Errorf("no mutant is caught by a check of the group %q", c.Group)
			groups[c.Group] = true
		}
	}
	t.Logf("%d mutants, in %d groups", len(all), len(groups))
}
