// Package sbxtest holds the tests any backend must pass, for those who write or generate one.
//
// Plans pins the plans of a fixed set of launches as golden files: what a change of a spec does to the command line shows up in
// review as a change of text. SameWords, FuzzWords and BenchmarkWords hold a generated argv builder against its explanation.
package sbxtest
