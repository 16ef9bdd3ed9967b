// Package sbxtest holds the tests any backend must pass, for those who write or generate one.
//
// Plans pins the plans of a fixed set of launches as golden files: what a change of a spec does to the command line shows up in
// review as a change of text. SameWords, FuzzWords and BenchmarkWords hold a generated argv builder against its explanation.
//
// Run holds a backend to the seam's contract: named checks in the groups of the lifecycle, each with the rule it stands for and where
// that is written. A factory makes a fresh backend for each check; Commands spell what the suite's commands do; what a backend declares
// it cannot do is a gap, never a pass. CheckBackend does the same outside of a test. Wrap puts hooks between driver and backend: the suite
// refuses and crashes through them, and a suite's own test makes backends that are wrong.
package sbxtest
