//sbx:seam it wires them // want package:`seam`

// Package seam has its directive apart from its comment.
package seam
