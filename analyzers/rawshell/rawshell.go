package rawshell

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/argv"
	"github.com/sbxkit/sbxkit/analyzers/internal/directive"
	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"github.com/sbxkit/sbxkit/analyzers/internal/rule"
	"golang.org/x/tools/go/analysis"
)

//go:embed doc.go
var doc string

// Analyzer is the rawshell rule.
var Analyzer = rule.New(&analysis.Analyzer{
	Name:     "rawshell",
	Doc:      rule.Doc(doc),
	Run:      run,
	Requires: []*analysis.Analyzer{directive.Analyzer, flow.Analyzer},
})

// run reports argument lists, of started programs and of launches, that hand program text to an interpreter, and runs of an
// embedded shell. A list whose program is not known proves nothing.
func run(pass *analysis.Pass) (any, error) {
	embedded(pass)
	result := pass.ResultOf[flow.Analyzer].(*flow.Result)
	type finding struct {
		pos       token.Pos
		name, opt string
	}
	reported := make(map[finding]bool)
	for _, use := range flow.Direct(result.Uses) {
		list, ok := argumentList(&use.Sink)
		if !ok {
			continue
		}
		commands := argv.Commands(list)
		if use.Kind == flow.Launch {
			// A list that is read from a launch and put back into one was judged where it was made.
			commands = slices.DeleteFunc(commands, func(c argv.Command) bool { return c.Prog.Stored() })
		}
		code, ok := argv.FindCode(commands)
		if !ok {
			continue
		}
		if use.From != nil {
			from, _ := argumentList(use.From)
			if _, reported := argv.FindCode(argv.Commands(from)); reported {
				continue
			}
		}
		if use.Kind == flow.Start && rule.Current().ConstantShell && allConstant(code.Text) {
			continue
		}
		f := finding{use.Pos, code.Command.Name, code.Option}
		if use.Round() && reported[f] {
			continue // the same, another time round
		}
		reported[f] = true
		d := analysis.Diagnostic{Pos: use.Pos, Message: message(use, code)}
		d.Related = result.Related(use.Via)
		if pos := code.Command.Prog.Pos(); pos.IsValid() && pass.Fset.Position(pos).Line != pass.Fset.Position(use.Pos).Line {
			d.Related = append(d.Related, analysis.RelatedInformation{Pos: pos, Message: fmt.Sprintf("%q comes from here", code.Command.Name)})
		}
		if use.Kind == flow.Launch {
			d.SuggestedFixes = scriptFix(pass, use)
		}
		pass.Report(d)
	}
	return nil, nil
}

// argumentList returns the list that the sink runs.
func argumentList(s *flow.Sink) (flow.Value, bool) {
	switch s.Kind {
	case flow.Start:
		return s.Vals[flow.StartArgv], true
	case flow.Launch:
		return s.Vals[0], true
	}
	return nil, false
}

func allConstant(v flow.Value) bool {
	for _, a := range v {
		if a.Kind != flow.Str {
			return false
		}
	}
	return len(v) > 0
}

func message(use *flow.Use, code argv.Code) string {
	name := code.Command.Name
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		name = "$" + env
	}
	how := strings.TrimSpace(name + " " + code.Option)
	if len(code.Command.Via) > 0 {
		how = strings.Join(code.Command.Via, " ") + " … " + how
	}
	if use.Kind == flow.Launch {
		return fmt.Sprintf("launch hands program text to a shell or interpreter (%s in %s); use Launch.Script", how, use.Chain())
	}
	return fmt.Sprintf("hands program text to a shell or interpreter (%s, %s); run the program itself, or a script file", how, use.Chain())
}

// embedded reports runs of a shell interpreter that is linked into the program.
func embedded(pass *analysis.Pass) {
	concerned := false
	for _, p := range pass.Pkg.Imports() {
		concerned = concerned || interpreter(p.Path()) && !rule.OwnModule(pass, p.Path())
	}
	if !concerned || interpreter(pass.Pkg.Path()) {
		return
	}
	for _, file := range pass.Files {
		ast.Inspect(file, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			fn, ok := pass.TypesInfo.Uses[id].(*types.Func)
			if !ok || fn.Pkg() == nil || !interpreter(fn.Pkg().Path()) {
				return true
			}
			if fn.Signature().Recv() == nil || fn.Name() != "Run" {
				return true
			}
			pass.Report(analysis.Diagnostic{
				Pos: id.Pos(), End: id.End(),
				Message: fmt.Sprintf("runs program text in an embedded shell (%s); use Launch.Script", flow.ShortObject(fn, pass.Pkg)),
			})
			return true
		})
	}
}

// interpreter reports whether path is the interpreter package of mvdan.cc/sh, any version.
func interpreter(path string) bool {
	return strings.HasPrefix(path, "mvdan.cc/sh/") && strings.HasSuffix(path, "/interp")
}
