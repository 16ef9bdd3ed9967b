package groupkill

import (
	_ "embed"
	"fmt"
	"go/token"
	"slices"

	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"github.com/sbxkit/sbxkit/analyzers/internal/rule"
	"golang.org/x/tools/go/analysis"
)

//go:embed doc.go
var doc string

// Analyzer is the groupkill rule.
var Analyzer = rule.New(&analysis.Analyzer{
	Name:     "groupkill",
	Doc:      rule.Doc(doc),
	Run:      run,
	Requires: []*analysis.Analyzer{flow.Analyzer},
})

// run judges each signal by what its target may be, and, where the target is a child of the function's own, by its order with the waits
// for that child. A target of which nothing is known proves nothing.
func run(pass *analysis.Pass) (any, error) {
	result := pass.ResultOf[flow.Analyzer].(*flow.Result)
	if !result.Concerned {
		return nil, nil
	}
	defer result.Lock()()
	order := newOrder(result)
	type finding struct {
		pos token.Pos
		why string
	}
	reported := make(map[finding]bool)
	for _, use := range result.Uses {
		if use.Kind != flow.Kill || harmless(use.Vals[1]) {
			continue
		}
		why := wrong(&use.Sink)
		if why != "" && len(use.Vals[0]) == 1 && use.Vals[0][0].Kind == flow.Int && result.Varies(use, 0) {
			why = "" // such as the -1 of a struct that has no process yet
		}
		if why != "" && identityChecked(result, use) && !group(use.Vals[0]) {
			why = ""
		}
		if why != "" && use.From != nil && !harmless(use.From.Vals[1]) && wrong(use.From) != "" {
			continue // reported in the callee
		}
		if why == "" && raw(use.What) && !use.Literal {
			why = order.late(use)
		}
		// The implementations of an interface may all do the same.
		if f := (finding{use.Pos, why}); why == "" || reported[f] {
			continue
		} else {
			reported[f] = true
		}
		pass.Report(analysis.Diagnostic{
			Pos:     use.Pos,
			Message: fmt.Sprintf("signals %s (%s)", why, use.Chain()),
			Related: result.Related(use.Via),
		})
	}
	return nil, nil
}

// raw reports whether the function signals by number: os.Process knows when its process is gone.
func raw(what string) bool {
	return what == "syscall.Kill" || what == "golang.org/x/sys/unix.Kill"
}

// harmless reports whether the signal is 0, which only asks.
func harmless(sig flow.Value) bool {
	return len(sig) == 1 && sig[0].Kind == flow.Int && sig[0].N == 0
}

// stops reports whether the signal stops or continues jobs: SIGSTOP, SIGTSTP, SIGCONT, SIGTTIN and SIGTTOU have these numbers on all
// systems, and so has SIGCHLD, which does nothing.
func stops(sig flow.Value) bool {
	for _, a := range sig {
		if a.Kind != flow.Int || a.N < 17 || a.N > 23 {
			return false
		}
	}
	return len(sig) > 0
}

func group(pid flow.Value) bool {
	return slices.ContainsFunc(pid, func(a flow.Alt) bool { return a.Kind == flow.Struct && a.Text == flow.NegatedStruct })
}

// wrong says what is wrong with the target of a signal, or "".
func wrong(s *flow.Sink) string {
	pid, sig := s.Vals[0], s.Vals[1]
	for _, a := range pid {
		if why := wrongTarget(a, len(pid) == 1, sig); why != "" {
			return why
		}
	}
	return ""
}

func wrongTarget(a flow.Alt, alone bool, sig flow.Value) string {
	switch {
	case a.Kind == flow.Int && alone && a.N == -1:
		return "every process it may: pid -1 stands for all of them"
	case a.Kind == flow.Int && alone && a.N == 0 && !stops(sig):
		return "its own process group, and with it its caller's jobs: pid 0 stands for that"
	case a.Kind == flow.Int && alone && a.N != 1 && a.N != 0 && a.N != -1:
		return fmt.Sprintf("process %d, which it did not start", a.N)
	case a.Kind == flow.Int && alone && a.N == 1:
		return "process 1, which it did not start"
	case a.Kind == flow.Tag && a.Text == flow.PidParent:
		return "its parent, which it did not start"
	case a.Kind == flow.Tag && a.Text == flow.Read:
		return "a process id read from text, which may be another process by now; compare its start time, or keep a pidfd"
	case a.Kind != flow.Struct:
		return ""
	case a.Text == flow.PidStruct:
		return wrongProcess(a)
	case a.Text == flow.GroupStruct:
		return wrongGroupOf(a, sig)
	case a.Text == flow.NegatedStruct:
		for _, in := range a.Elems[0] {
			if why := wrongGroup(in, sig); why != "" {
				return why
			}
		}
	}
	return ""
}

// wrongProcess judges a process that is signalled alone.
func wrongProcess(pid flow.Alt) string {
	if found := (flow.Value{pid}).Field(flow.Found); slices.Contains(pid.Names, flow.Found) {
		for _, a := range found {
			switch {
			case a.Kind == flow.Tag && a.Text == flow.Read:
				return "a process id read from text, which may be another process by now; compare its start time, or keep a pidfd"
			case a.Kind == flow.Tag && a.Text == flow.PidParent:
				return "its parent, which it did not start"
			case a.Kind == flow.Int:
				return fmt.Sprintf("process %d, which it did not start", a.N)
			}
		}
	}
	return ""
}

// wrongGroup judges the group whose id the alternative is.
func wrongGroup(a flow.Alt, sig flow.Value) string {
	const start = "; start it with Setpgid or Setsid"
	switch {
	case a.Kind == flow.Tag && (a.Text == flow.PidGroup || a.Text == flow.PidSelf):
		if stops(sig) {
			return ""
		}
		return "its own process group, and with it its caller's jobs"
	case a.Kind == flow.Tag && a.Text == flow.PidParent:
		return "the group of its parent, which it did not start"
	case a.Kind == flow.Tag && a.Text == flow.Read:
		return "a group whose id was read from text, which may be another group by now"
	case a.Kind == flow.Struct && a.Text == flow.GroupStruct:
		return wrongGroupOf(a, sig)
	case a.Kind == flow.Struct && a.Text == flow.PidStruct:
		switch own(a) {
		case no:
			return "the group of a child that leads none: that is no group, or another's" + start
		case foreign:
			return "the group of a process it did not start"
		}
	}
	return ""
}

// wrongGroupOf judges the group that a process was found in.
func wrongGroupOf(a flow.Alt, sig flow.Value) string {
	of := a.Elems[0]
	if len(of) == 0 {
		of = flow.Value{{Kind: flow.Unknown}}
	}
	for _, p := range of {
		switch {
		case p.Kind == flow.Int && p.N == 0, p.Kind == flow.Tag && (p.Text == flow.PidSelf || p.Text == flow.PidGroup):
			if stops(sig) {
				return ""
			}
			return "its own process group, and with it its caller's jobs"
		case p.Kind == flow.Struct && p.Text == flow.PidStruct:
			switch own(p) {
			case no:
				return "the group of a child that has none of its own, which is the caller's; start it with Setpgid or Setsid"
			case foreign:
				return "the group that a process it did not start is in"
			}
			continue
		case p.Kind == flow.Tag && p.Text == flow.PidTerminal:
			continue
		case p.Kind == flow.Param:
			continue // judged where the process is known
		default:
			return "the group that an arbitrary process is in: that may be its own"
		}
	}
	return ""
}

type ownership int

const (
	undecided ownership = iota
	yes
	no
	foreign
)

// own reports whether the process was started as the leader of a group of its own.
func own(pid flow.Alt) ownership {
	if slices.Contains(pid.Names, flow.Found) {
		for _, a := range (flow.Value{pid}).Field(flow.Found) {
			if a.Kind == flow.Param {
				return undecided
			}
			if a.Kind == flow.Struct && a.Text == flow.PidStruct {
				return own(a)
			}
		}
		return foreign
	}
	if !slices.Contains(pid.Names, flow.Attr) {
		// Of: an os.Process that came in as a parameter, and is known now.
		for _, e := range pid.Elems {
			for _, a := range e {
				if a.Kind == flow.Struct && a.Text == flow.ProcessStruct && len(a.Names) > 0 {
					return own(flow.Alt{Kind: flow.Struct, Text: flow.PidStruct, Names: a.Names, Elems: a.Elems})
				}
			}
		}
		return undecided
	}
	verdict := no
	attr := (flow.Value{pid}).Field(flow.Attr)
	for _, a := range attr {
		switch a.Kind {
		case flow.Nil:
			continue
		case flow.Param:
			if len(attr) == 1 {
				return undecided
			}
			continue // the others are what the package gives it
		case flow.Struct:
		default:
			return undecided
		}
		for _, name := range []string{"Setpgid", "Setsid", "Foreground"} {
			for _, f := range (flow.Value{a}).Field(name) {
				if f.Kind != flow.Int {
					return undecided
				}
				if f.N == 1 {
					verdict = yes
				}
			}
		}
	}
	return verdict
}

// identityChecked reports whether the function, or one around it, makes sure that the process is still the one it was.
func identityChecked(result *flow.Result, use *flow.Use) bool {
	for fn := use.Fn; fn != nil; fn = fn.Parent() {
		for _, e := range result.Effects(fn) {
			if e.Kind == flow.IdentityChecked {
				return true
			}
		}
	}
	return false
}
