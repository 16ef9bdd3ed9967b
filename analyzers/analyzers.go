// Package analyzers lists the rules of sbxvet. Each rule is a package of its own below this one; package
// analyzers/internal/rule tells how to write one.
package analyzers

import (
	"github.com/sbxkit/sbxkit/analyzers/allow"
	"github.com/sbxkit/sbxkit/analyzers/backendexec"
	"github.com/sbxkit/sbxkit/analyzers/backendimport"
	"github.com/sbxkit/sbxkit/analyzers/groupkill"
	"github.com/sbxkit/sbxkit/analyzers/hostenv"
	"github.com/sbxkit/sbxkit/analyzers/livenessstdin"
	"github.com/sbxkit/sbxkit/analyzers/lostfailure"
	"github.com/sbxkit/sbxkit/analyzers/rawshell"
	"github.com/sbxkit/sbxkit/analyzers/unsandboxed"
	"golang.org/x/tools/go/analysis"
)

// rules are the rules that look at code, by name.
var rules = []*analysis.Analyzer{
	backendexec.Analyzer,
	backendimport.Analyzer,
	groupkill.Analyzer,
	hostenv.Analyzer,
	livenessstdin.Analyzer,
	lostfailure.Analyzer,
	rawshell.Analyzer,
	unsandboxed.Analyzer,
}

var suppression = allow.New(rules)

// All returns the rules by name. The last is the one that watches over the suppressions of the others.
func All() []*analysis.Analyzer {
	return append(append([]*analysis.Analyzer(nil), rules...), suppression)
}
