// Package allow defines an analyzer that watches over the suppressions of the other rules.
//
// # Analyzer allow
//
// allow: report //sbx: directives that do not do what they seem to
//
// A finding is silenced by //sbx:allow <rule> <reason>, on the line, the statement or the declaration. The reason is for the next
// reader: without one the directive does nothing. One that silences nothing is a trap, because it will silence the next mistake.
//
// Reported are an allow directive without a reason, for a rule that does not exist, or that silenced nothing although the
// rule ran over the package; a //sbx:seam without a reason; and a directive with a word nobody knows.
//
// Bad:
//
//	exec.Command("sh", "-c", hook) //sbx:allow rawshell
//
// Good:
//
//	exec.Command("sh", "-c", hook) //sbx:allow rawshell the user's own hook, run as the user, never in a sandbox
//
// # How to allow it
//
// Not at all: remove the directive. A path rule in .sbxvet.yaml covers generated trees.
//
// # What it cannot see
//
// A directive in a file that the build leaves out, and whether the reason is true.
package allow
