// Package exectable lists the ways the standard library and golang.org/x/sys offer to start a program. Its test walks those
// packages and fails when a new one appears that is neither in the table nor on the list of what only looks like one.
package exectable
