// Package own is a backend over primitives.
//
//sbx:backend
package own

import _ "example.com/primitives"
