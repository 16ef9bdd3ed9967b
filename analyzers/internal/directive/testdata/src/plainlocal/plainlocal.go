// Package plainlocal is no backend, whatever it is called.
package local

type Description struct{ Unsandboxed bool }

var d = Description{Unsandboxed: true}
