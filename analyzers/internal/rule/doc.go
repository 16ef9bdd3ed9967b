// Package rule is what every sbxvet rule is made with: it applies //sbx:allow and the policy's path rules to what a rule reports,
// and keeps account of which directives did something.
//
// # How to write a rule
//
// A rule is a folder of analyzers/ named after it, with
//
//	doc.go           the package comment: why, bad, good, how to allow, what it cannot see. Embedded as the analyzer's Doc.
//	NAME.go          var Analyzer = rule.New(&analysis.Analyzer{Name: …, Doc: …, Run: run, Requires: …}); run under it
//	NAME_test.go     analysistest over testdata
//	testdata/src/a   violations with // want, and look-alikes without
//
// and a line in analyzers.All. run leaves at once when the package cannot be concerned.
//
// What a rule can ask for, by Requires:
//
//	directive.Analyzer  *directive.Index: what packages, types and functions are (backend, seam, inside, launch, liveness)
//	flow.Analyzer       *flow.Result: what programs the package starts, what it hands to the seam, what values are
//
// Reports go through pass.Report as always; the chain of calls a finding went through belongs both in the message and, as
// positions, in Diagnostic.Related. Diagnostics come out in position order whatever order they are reported in.
package rule
