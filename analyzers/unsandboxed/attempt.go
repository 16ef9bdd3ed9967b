package unsandboxed

import (
	"go/types"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/argv"
	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"github.com/sbxkit/sbxkit/analyzers/internal/rule"
	"golang.org/x/tools/go/ssa"
)

// steps are the calls whose failure means that there is no sandbox, by name, on types of the seam and of backends.
var steps = map[string]bool{
	"New": true, "Probe": true, "Ensure": true, "Plan": true, "Prepare": true, "Stage": true, "Launch": true, "Run": true, "Start": true,
	"Wait": true, "Err": true,
}

// attempt returns what a message calls the attempt to have a sandbox that the call is by itself, or "".
func (c *checker) attempt(call ssa.CallInstruction) string {
	name, ok := c.tries[call]
	if !ok {
		name = c.findAttempt(call)
		c.tries[call] = name
	}
	return name
}

func (c *checker) findAttempt(call ssa.CallInstruction) string {
	common := call.Common()
	if errorResult(common.Signature()) < 0 {
		return ""
	}
	if common.IsInvoke() {
		if c.step(common.Method) || c.asksEngine(common.Method) {
			return short(common.Method)
		}
		return ""
	}
	for _, callee := range c.result.Callees(common) {
		if callee.Obj == nil {
			continue
		}
		if c.step(callee.Obj) || c.asksEngine(callee.Obj) {
			return short(callee.Obj)
		}
		if looks[callee.Name] && len(common.Args) > 0 && c.backendName(c.result.Value(common.Args[0])) {
			return flow.ShortWhat(callee.Name)
		}
	}
	for _, use := range c.uses[call] {
		if name := c.backendStart(use); name != "" {
			return "running " + name
		}
	}
	return ""
}

// looks are functions that say by an error that a program or a socket is not there.
var looks = map[string]bool{
	"os/exec.LookPath": true, "golang.org/x/sys/execabs.LookPath": true, "github.com/cli/safeexec.LookPath": true,
	"os.Stat": true, "os.Lstat": true,
}

// step reports whether fn is a step of the lifecycle, or makes what takes them.
func (c *checker) step(fn *types.Func) bool {
	if fn == nil || errorResult(fn.Signature()) < 0 {
		return false
	}
	if c.result.Directives.Object(fn.Origin()).Launch {
		return true
	}
	if !steps[fn.Name()] || c.result.UnsandboxedPackage(fn.Pkg()) {
		return false
	}
	return c.seam(fn.Pkg()) || fn.Pkg() != nil && c.result.Directives.PackageOf(fn.Pkg()).Backend
}

// asksEngine reports whether fn is of a container engine's client library and fails when the engine does, or refuses.
func (c *checker) asksEngine(fn *types.Func) bool {
	return fn != nil && fn.Pkg() != nil && fn.Name() != "Close" && rule.EngineClient(c.pass, fn.Pkg().Path()) && !rule.EngineClient(c.pass, c.pass.Pkg.Path())
}

// backendName reports whether the value may be a backend's program, or the socket of one.
func (c *checker) backendName(v flow.Value) bool {
	return slices.ContainsFunc(v, func(a flow.Alt) bool {
		base, ok := a.BaseName()
		base = strings.TrimSuffix(base, ".sock")
		return ok && slices.Contains(rule.Current().ProgramNames(), base)
	})
}

// backendStart returns the name of the backend's program that the use starts, or "".
func (c *checker) backendStart(use *flow.Use) string {
	var path, list flow.Value
	switch use.Kind {
	case flow.Start:
		path, list = use.Vals[flow.StartPath], use.Vals[flow.StartArgv]
	case flow.Environ:
		path = use.Vals[1]
	default:
		return ""
	}
	names := rule.Current().ProgramNames()
	for _, a := range path {
		if base, ok := a.BaseName(); ok && slices.Contains(names, base) {
			return base
		}
	}
	for _, cmd := range argv.Commands(list) {
		if slices.Contains(names, cmd.Name) {
			return cmd.Name
		}
	}
	return ""
}

// errorResult returns the index of the error among the results, -1 without one.
func errorResult(sig *types.Signature) int {
	n := sig.Results().Len()
	if n == 0 || !isError(sig.Results().At(n-1).Type()) {
		return -1
	}
	return n - 1
}

func isError(t types.Type) bool { return types.TypeString(t, nil) == "error" }

func short(fn *types.Func) string {
	recv := fn.Signature().Recv()
	if recv == nil {
		return fn.Pkg().Name() + "." + fn.Name()
	}
	t := recv.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.TypeString(t, func(*types.Package) string { return "" }) + "." + fn.Name()
}
