// Package backend is a generated backend.
//
//sbx:backend
package backend

// New returns the backend.
func New() int { return 0 }
