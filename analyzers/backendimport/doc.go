// Package backendimport defines an analyzer that keeps backends behind the seam.
//
// # Analyzer backendimport
//
// backendimport: report imports of a sandbox backend outside the seam
//
// A package that imports a backend can skip the lifecycle driver: no probe, no plan, no journal, no confirmed removal. Only the
// package that wires the program together chooses a backend; it says so with a directive and a reason.
//
// Reported is an import of a package that carries //sbx:backend or //sbx:primitives, under any name, dot and blank imports too.
//
// Bad:
//
//	package tools
//
//	import "github.com/sbxkit/sbxkit/generated/bwrap"
//
// Good: take the sandbox as a value, and wire it in one place.
//
//	// Package wiring chooses the backend.
//	//
//	//sbx:seam the one place that chooses a backend from the configuration
//	package wiring
//
// Not reported are imports in a seam package, in a backend and its tests (an external test that does not import what it tests says itself what it
// is), and in generated files. A //sbx:seam without a reason makes no seam.
//
// # How to allow it
//
//	import _ "example.com/backend" //sbx:allow backendimport <reason>
//
// # What it cannot see
//
// A backend whose generated code has lost its directive, and one that is reached by linkname or as a plugin.
package backendimport
