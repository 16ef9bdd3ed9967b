// Package spec reads the language that describes a sandbox backend: one YAML document with an identity, a dialect (how a tool spells
// each thing a launch can ask for), a policy and a lifecycle. What it gives is a checked, typed Backend in which every node knows
// its place; package gen writes Go from it.
//
// The names a dialect may spell are a closed list, the vocabulary. A spec says for each of them how it is met: spelled by words, done
// by a primitive, implied by the tool, or unsupported with a reason. Nothing is dropped in silence.
//
// Loading never panics, whatever the text; every fault of a file is reported, each with its place, its line and what would be right.
// All functions are safe for concurrent use.
package spec
