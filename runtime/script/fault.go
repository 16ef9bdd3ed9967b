package script

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// Op is a call a driver makes of a backend, or a moment inside one.
type Op string

// The calls, and the two moments inside Start.
const (
	OnProbe   Op = "probe"
	OnEnsure  Op = "ensure"
	OnPlan    Op = "plan"
	OnPrepare Op = "prepare"
	OnReopen  Op = "reopen"
	OnStage   Op = "stage"
	OnStart   Op = "start"
	// OnHeld is when the process exists and its token was recorded, and the command is not let go yet.
	OnHeld Op = "start.held"
	// OnReleased is when the command was let go, and Start has not answered yet.
	OnReleased Op = "start.released"
	OnSignal   Op = "signal"
	OnWait     Op = "wait"
	OnHealth   Op = "health"
	OnExec     Op = "exec"
	OnDial     Op = "dial"
	OnResize   Op = "resize"
	OnExport   Op = "export"
	OnKill     Op = "kill"
	OnRemove   Op = "remove"
	OnFind     Op = "find"
	// OnWitnessed asks for the recorded end of a command that nobody waited for.
	OnWitnessed Op = "witnessed"
)

// Ops lists every Op in the order a driver comes by them.
func Ops() []Op {
	return []Op{
		OnProbe, OnEnsure, OnPlan, OnPrepare, OnReopen, OnStage, OnStart, OnHeld, OnReleased, OnSignal, OnWait, OnHealth, OnExec, OnDial,
		OnResize, OnExport, OnKill, OnRemove, OnFind, OnWitnessed,
	}
}

// step is the step of the lifecycle an op belongs to.
func (o Op) step() runtime.Step {
	switch o {
	case OnProbe:
		return runtime.StepProbe
	case OnEnsure, OnPlan:
		return runtime.StepPlan
	case OnPrepare:
		return runtime.StepPrepare
	case OnStage:
		return runtime.StepStage
	case OnStart, OnHeld, OnReleased:
		return runtime.StepStart
	case OnExport:
		return runtime.StepExport
	case OnKill, OnRemove:
		return runtime.StepRemove
	case OnReopen, OnFind, OnWitnessed:
		return runtime.StepReconcile
	}
	return runtime.StepCapture
}

// interrupted is the kind of failure of a call whose context ended, or whose engine was gone, before or after its work was done.
func (o Op) interrupted(done bool) runtime.Kind {
	switch o {
	case OnProbe, OnEnsure, OnPlan, OnPrepare, OnReopen, OnStage, OnFind, OnExec, OnDial, OnHealth, OnResize:
		return runtime.Setup
	case OnStart, OnHeld:
		if !done {
			return runtime.Setup
		}
	}
	return runtime.Uncertain
}

// Fault is something that goes wrong in a call, or makes it slow. What it holds happens in this order: the delay, the crash, the refusal.
type Fault struct {
	At Op
	// Nth is the call it happens in, counted from 1 over the run (over the backend for calls that belong to no run); 0 is every call.
	Nth int
	// After makes it happen when the call's work is done and only the answer is missing; otherwise the work is not begun.
	After bool
	// Delay is how long it takes; it ends with the call's context.
	Delay time.Duration
	// Deaf makes the delay take no notice of the context, as an engine that hangs does.
	Deaf bool
	// Crash ends the controller here: see Backend.OnCrash.
	Crash bool
	// Refuse is what the call fails with. A *runtime.Failure keeps its kind; anything else becomes Setup.
	Refuse error
	// Lost makes the call answer as if its work was done, and not do it.
	Lost bool
}

// Forever is a delay no test outlasts.
const Forever = 100 * 365 * 24 * time.Hour

// Refuse makes op fail with kind before it does anything.
func Refuse(op Op, kind runtime.Kind, message string) Fault {
	return Fault{At: op, Refuse: &runtime.Failure{Kind: kind, Message: message}}
}

// Slow makes op take so long.
func Slow(op Op, d time.Duration) Fault { return Fault{At: op, Delay: d} }

// Hung makes op never answer, whatever its context says.
func Hung(op Op) Fault { return Fault{At: op, Delay: Forever, Deaf: true} }

// CrashBefore ends the controller when it calls op.
func CrashBefore(op Op) Fault { return Fault{At: op, Crash: true} }

// CrashAfter ends the controller when op's work is done and it has not heard so.
func CrashAfter(op Op) Fault { return Fault{At: op, After: true, Crash: true} }

// ErrCrashed is what every call of a crashed controller fails with.
var ErrCrashed = errors.New("the controller has crashed")

// player is a script being played, with how often each op was called.
type player struct {
	script *Script
	calls  map[Op]int
}

func newPlayer(s *Script) *player {
	if s == nil {
		s = &Script{}
	}
	return &player{script: s, calls: map[Op]int{}}
}

// faults counts a call of op and gives what goes wrong in it.
func (b *Backend) faults(p *player, op Op) []Fault {
	b.world.mu.Lock()
	defer b.world.mu.Unlock()
	p.calls[op]++
	var list []Fault
	for _, f := range p.script.Faults {
		if f.At == op && (f.Nth == 0 || f.Nth == p.calls[op]) {
			list = append(list, f)
		}
	}
	return list
}

// call does work as one call of op by the driver, with what the script says goes wrong in it, and logs it. run is empty where the call
// belongs to no run.
func (b *Backend) call(ctx context.Context, p *player, run string, op Op, note string, work func() error) error {
	err := b.suffered(ctx, p, op, work)
	b.world.log(Call{Backend: b.def.Description.Name, Run: run, Op: op, Note: note, Err: err})
	return err
}

func (b *Backend) suffered(ctx context.Context, p *player, op Op, work func() error) error {
	if err := b.gone(op); err != nil {
		return err
	}
	lost := false
	faults := b.faults(p, op)
	for _, f := range faults {
		if f.After {
			continue
		}
		if err := b.suffer(ctx, f); err != nil {
			return err
		}
		lost = lost || f.Lost
	}
	if err := ctx.Err(); err != nil {
		return interrupted(op, false, err)
	}
	if !lost {
		if err := b.world.reachable(op); err != nil {
			return err
		}
		if err := work(); err != nil {
			return err
		}
	}
	for _, f := range faults {
		if !f.After {
			continue
		}
		if err := b.suffer(ctx, f); err != nil {
			return err
		}
	}
	return b.gone(op)
}

// suffer lets f happen.
func (b *Backend) suffer(ctx context.Context, f Fault) error {
	if f.Delay > 0 {
		t := time.NewTimer(f.Delay)
		defer t.Stop()
		done := ctx.Done()
		if f.Deaf {
			done = nil
		}
		select {
		case <-t.C:
		case <-done:
			return interrupted(f.At, f.After, context.Cause(ctx))
		case <-b.life.Done():
		}
	}
	if f.Crash {
		b.crash(f.At)
	}
	if err := b.gone(f.At); err != nil {
		return err
	}
	return refusal(f)
}

// gone is the failure of every call after the crash, or after the world was closed.
func (b *Backend) gone(op Op) error {
	if b.life.Err() != nil {
		return interrupted(op, true, context.Cause(b.life))
	}
	return nil
}

func interrupted(op Op, done bool, cause error) *runtime.Failure {
	return &runtime.Failure{Kind: op.interrupted(done), Step: op.step(), Message: fmt.Sprintf("%s was interrupted", op), Err: cause}
}

// refusal is a fresh copy of what f refuses with: a driver fills in a failure's step and backend.
func refusal(f Fault) error {
	if f.Refuse == nil {
		return nil
	}
	var as *runtime.Failure
	if errors.As(f.Refuse, &as) {
		c := *as
		c.Left = append([]runtime.Leftover(nil), as.Left...)
		return c.At(f.At.step())
	}
	return (&runtime.Failure{Kind: runtime.Setup, Message: f.Refuse.Error(), Err: f.Refuse}).At(f.At.step())
}
