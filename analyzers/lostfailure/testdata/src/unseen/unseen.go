// Package unseen holds what the rule does not see today. Each is wrong; what the rule comes to see one day gets a want.
package unseen

import (
	"context"
	"log"
	"reflect"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// An error that is stored, sent or handed over, and then forgotten.
type keeper struct{ err error }

func (k *keeper) stored(ctx context.Context, r *sbx.Run) { k.err = r.Reap(ctx) }

func sent(ctx context.Context, r *sbx.Run) {
	c := make(chan error, 1)
	c <- r.Reap(ctx)
}

func handed(ctx context.Context, r *sbx.Run) { forget(r.Reap(ctx)) }

func forget(error) {}

// An error that is logged where there is none to return.
func logged(ctx context.Context, r *sbx.Run) {
	if err := r.Reap(ctx); err != nil {
		log.Print(err)
	}
}

// A success told by a number or a boolean.
func number(ctx context.Context, r *sbx.Run) int {
	if err := r.Reap(ctx); err != nil {
		log.Print(err)
	}
	return 0
}

func boolean(ctx context.Context, r *sbx.Run) bool {
	if err := r.Reap(ctx); err != nil {
		log.Print(err)
	}
	return true
}

// Reflection.
func reflected(r *sbx.Run) { reflect.ValueOf(r).MethodByName("Reap").Call(nil) }

type state struct {
	Running  bool
	ExitCode int
}

// The flag of another value, and one that is looked at too late.
func otherValue(s, t *state) int {
	if t.Running {
		return -1
	}
	return s.ExitCode
}

func tooLate(s *state) (int, bool) {
	code := s.ExitCode
	return code, s.Running
}
