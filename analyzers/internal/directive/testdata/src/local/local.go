// Package local says that it does not. // want package:`backend unsandboxed`
//
//sbx:backend
package local

import "backend"

const off = true

var d = &backend.Description{Unsandboxed: off}

// Used is used.
var Used int
