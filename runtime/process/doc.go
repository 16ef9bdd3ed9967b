// Package process is the primitives room of backends whose sandbox is a process: bwrap, and the plain process of local. One long-lived
// operating-system thread starts every child, holds it before its first instruction, applies the limits, has the kernel's own record
// of it compared with what the plan claims, and only then lets it go.
//
// It is Linux's: elsewhere every step answers Unsupported.
//
//sbx:seam the primitives room that starts the programs of process backends
package process
