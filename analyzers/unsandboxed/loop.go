package unsandboxed

import (
	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"golang.org/x/tools/go/ssa"
)

// loops reports attempts that a loop makes with one backend after another until one succeeds, when one of them isolates nothing.
func (c *checker) loops(fn *ssa.Function) {
	v := c.attempts(fn)
	for i := range v.branches {
		br := &v.branches[i]
		call, ok := br.why.call.(*ssa.Call)
		if !ok || call.Parent() != fn {
			continue
		}
		start := call.Block()
		if !follows(br.fail, start) || follows(br.fine, start) {
			continue // a failure ends the loop, or a success does not
		}
		what, ok := c.mayChooseUnsandboxed(call)
		if !ok {
			continue
		}
		c.report(finding{instr: call, pos: position(call), how: firstOf, from: br.why.from, what: what})
	}
}

// searches reports calls that look a list through with a function for the first backend that works, such as slices.IndexFunc.
func (c *checker) searches(fn *ssa.Function) {
	for _, b := range fn.Blocks {
		for _, instr := range b.Instrs {
			call, ok := instr.(*ssa.Call)
			if !ok || call.Call.IsInvoke() || len(call.Call.Args) < 2 {
				continue
			}
			list := call.Call.Args[0]
			if !isList(list.Type()) || !flow.MayBeUnsandboxed(c.result.Value(list)) {
				continue
			}
			for _, a := range call.Call.Args[1:] {
				f, ok := functionValue(a)
				if !ok {
					continue
				}
				for _, m := range c.facts[f].results() {
					if m.Param < 0 && m.Value == isFalse {
						c.report(finding{instr: call, pos: position(call), how: firstOf, from: m.From, what: "in the list"})
					}
				}
			}
		}
	}
}

// follows reports whether block to can run after block from.
func follows(from, to *ssa.BasicBlock) bool { return reach(from, nil)[to] }

// mayChooseUnsandboxed reports whether what the attempt is made with may be a backend that isolates nothing.
func (c *checker) mayChooseUnsandboxed(call *ssa.Call) (string, bool) {
	if e, ok := c.result.UnsandboxedCall(call); ok {
		return e.Chain(), true
	}
	values := call.Call.Args
	if call.Call.IsInvoke() {
		values = append([]ssa.Value{call.Call.Value}, values...)
	}
	for _, x := range values {
		if c.isolatesNothing(x) {
			return "in the list", true
		}
	}
	return "", false
}
