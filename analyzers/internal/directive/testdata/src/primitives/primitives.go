// Package primitives is one. // want package:`primitives`
//
//sbx:primitives
package primitives
