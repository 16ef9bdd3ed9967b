// Package named is called local and says nothing. // want package:`backend unsandboxed`
//
//sbx:backend
package local
