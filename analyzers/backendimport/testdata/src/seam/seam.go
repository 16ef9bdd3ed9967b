// Package seam wires backends.
//
//sbx:seam a test
package seam

import (
	_ "example.com/backend"
	_ "example.com/primitives"
)
