package flow

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A Sink is a place where values do something a rule cares about: a program is started with them, a launch is handed them. When a
// value depends on a parameter of the function around, each call of that function is a sink too, with the values it has there.
type Sink struct {
	Kind string // "start", "launch", "call", or a kind of a rule's own
	What string // the full name of the function or field that does it
	Vals []Value
	Via  []Step // the functions between, nearest first

	at token.Pos // of the use in its function, when that is of this package
}

// A Step is one function on the way from a call to a sink.
type Step struct {
	Name string // as a message calls it
	Full string // full name

	pos token.Pos // in the function, of the call that goes on; NoPos when another package holds it
}

// The kinds of sinks the flow package knows.
const (
	// Start starts a program. Vals: the program's path, the whole argument list with the program first, the environment (nil when
	// the call does not say).
	Start = "start"

	// Launch hands an argument list to the seam. Vals: the whole argument list.
	Launch = "launch"

	// Call calls a function value that is a parameter. Vals: the function, then its arguments. Rules need not look at it: when the
	// function is known at a call, what it does with the arguments comes out as a sink of its own.
	Call = "call"
)

// The indexes of a Start's values.
const (
	StartPath = 0
	StartArgv = 1
	StartEnv  = 2
)

func (s *Sink) open() bool {
	for _, v := range s.Vals {
		if v.Open() {
			return true
		}
	}
	return false
}

// narrow drops what nobody asks of the sink's value: it would be carried through all callers.
func (s *Sink) narrow() {
	switch s.Kind {
	case attributes:
		s.Vals[0] = onlyParams(s.Vals[0])
	case StdinStore:
		s.Vals[0] = streamsIn(s.Vals[0])
	}
}

// hopeless reports whether nothing is known of any of the sink's values, now or later.
func (s *Sink) hopeless() bool {
	for _, v := range s.Vals {
		for _, a := range v {
			if a.Kind != Unknown && a.Kind != Nil {
				return false
			}
		}
	}
	return true
}

// compareSinks orders sinks. It is 0 for those that are the same but for the way to them.
func compareSinks(a, b *Sink) int {
	return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.What, b.What), compareLists(a.Vals, b.Vals))
}

// An Effect is something a function does whatever its arguments are, and so does each function that calls it.
type Effect struct {
	Kind string
	What string
	Via  []Step // the functions between, nearest first

	at      token.Pos     // in the function that has the effect, NoPos when that is of another package
	literal *ssa.Function // the function literal that is called, when it is one of this package
}

// Pos returns where the function that has the effect goes on to it.
func (e *Effect) Pos() token.Pos { return e.at }

// A Use is a sink at one instruction of this package.
type Use struct {
	Sink

	Fn    *ssa.Function
	Instr ssa.Instruction
	Pos   token.Pos

	// From is the callee's own view of the sink when the instruction is a call that leads to it, nil when it is the sink itself.
	// Where From alone proves a violation it has been reported in the callee.
	From *Sink

	// Literal says that the instruction makes a function literal (or a method value) and the sink is in it.
	Literal bool
}

// Direct are the uses by their ways: first those that go through no function twice.
func Direct(uses []*Use) []*Use {
	var out, round []*Use
	for _, u := range uses {
		if u.Round() {
			round = append(round, u)
		} else {
			out = append(out, u)
		}
	}
	return append(out, round...)
}

// Round reports whether the way goes through a function twice.
func (u *Use) Round() bool {
	return slices.ContainsFunc(u.Via, func(s Step) bool { return rounds(u.Via, s.Full) > 1 })
}

// Chain renders the way from the use to the sink: "run → (*Runner).start → exec.Command".
func (u *Use) Chain() string {
	return chain(u.Via, u.What)
}

// Chain renders the way from the caller to the effect.
func (e *Effect) Chain() string { return chain(e.Via, e.What) }

func chain(via []Step, what string) string {
	var parts []string
	for _, s := range via {
		parts = append(parts, s.Name)
	}
	return strings.Join(append(parts, ShortWhat(what)), " → ")
}

// ShortWhat shortens a full name to what a reader of the code sees: "exec.Command" for "os/exec.Command".
func ShortWhat(name string) string {
	star := strings.HasPrefix(name, "(*")
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
		if star {
			name = "(*" + name
		}
	}
	return name
}

// A Summary is what other functions need to know of one.
type Summary struct {
	Returns []Value
	Sinks   []Sink
	Effects []Effect
}

func (s *Summary) empty() bool {
	return len(s.Returns) == 0 && len(s.Sinks) == 0 && len(s.Effects) == 0
}

// same reports whether the summaries tell a caller the same. Of the ways only the lengths count.
func (s *Summary) same(t *Summary) bool {
	return compareLists(s.Returns, t.Returns) == 0 &&
		slices.EqualFunc(s.Sinks, t.Sinks, func(a, b Sink) bool { return len(a.Via) == len(b.Via) && compareSinks(&a, &b) == 0 }) &&
		slices.EqualFunc(s.Effects, t.Effects, func(a, b Effect) bool {
			return a.Kind == b.Kind && a.What == b.What && len(a.Via) == len(b.Via)
		})
}

// String renders the summary for tests.
func (s *Summary) String() string {
	var b strings.Builder
	for _, v := range s.Returns {
		fmt.Fprintf(&b, "returns %v;", v)
	}
	for i := range s.Sinks {
		fmt.Fprintf(&b, "%s %s %v;", s.Sinks[i].Kind, s.Sinks[i].What, s.Sinks[i].Vals)
	}
	for _, e := range s.Effects {
		fmt.Fprintf(&b, "%s %s;", e.Kind, e.What)
	}
	return b.String()
}
