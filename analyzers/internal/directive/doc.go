// Package directive reads the //sbx: directives of a source tree and hands them to every rule.
//
// A directive is a comment that starts its line with //sbx: and no space. It is how a package says what it is, so that sbxvet needs
// no configuration in any module: the analyzer turns each directive into a fact, and the fact reaches every package that imports the
// one that carries it.
//
//	//sbx:backend             package comment: this package is a backend (generated code carries it)
//	//sbx:primitives          package comment: a primitives room, which only backends and seam packages may import
//	//sbx:seam <reason>       package comment: this package may wire backends
//	//sbx:inside              package comment or declaration: this code runs inside the sandbox
//	//sbx:launch              type or function: part of the seam's launch API
//	//sbx:liveness            type or function: a liveness hook
//	//sbx:allow <rule> <why>  line, statement or declaration: see package rule
package directive
