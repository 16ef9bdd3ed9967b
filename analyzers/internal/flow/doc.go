// Package flow is the value and call analysis that sbxvet's rules share: what programs a package starts, what it hands to the seam,
// and with which arguments, through variables, fields, maps, closures, interfaces and functions of other packages.
//
// # Model
//
// A [Value] is the set of things an SSA value may be: constants, lists with known and repeated parts, structs, functions, and what
// depends on a parameter of the function it belongs to. Values are computed backwards from where a rule asks, once each.
//
// A [Sink] is a place where values do something: an exec.Command call, a write to Launch.Argv. A sink whose values depend on
// parameters becomes part of the [Summary] of its function, and each call of that function is a sink in turn with the arguments put in,
// until nothing depends on a parameter any more. So a rule sees a wrapper's violation at the call that supplies the name. An
// [Effect] is a sink without values, which every caller inherits.
//
// Summaries cross packages as facts. They are closed when they are exported: they mention no other function's summary, so that a fact
// of a direct import is all that is needed.
//
// # What a rule does with it
//
// It requires Analyzer, walks Result.Uses and judges Use.Vals. A use that came through a call (From is not nil) and that From alone
// proves wrong was reported in the callee already; the rule skips it. See package rule for the rest.
//
// # Order and bounds
//
// Functions are visited in source order until no summary changes. Memory is seen without order: what is stored in a variable that
// lives in memory, or in a field, is the union of all stores. Whatever exceeds a bound becomes Unknown, which proves nothing.
package flow
