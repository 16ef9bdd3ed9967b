//go:build sbxnever

package a

// Not of this build: not seen.
func tagged() { undefined() }
