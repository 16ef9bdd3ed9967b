// Package backend says that it sandboxes. // want package:`backend`
//
//sbx:backend
package backend

type Description struct{ Unsandboxed bool }

var d = Description{Unsandboxed: false}
