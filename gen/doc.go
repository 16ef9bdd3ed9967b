// Package gen turns a sandbox backend's spec into the Go package that drives it: the pure argv builder, its explanation, an engine's
// create request, the policy and capabilities as data, the constructor, a table of the policy for a reviewer, and a test that pins plans.
//
// What it gives is a function of the spec alone: the same spec, the same bytes, whatever the machine, directory or map order. It reads
// none of its own earlier output, so a generated package that is absent or broken never stands in the way of the one that replaces it.
//
// Generate renders and type-checks, and touches no file. Output.Write puts a package in place in one step; Compare says how what is on
// disk differs.
package gen
