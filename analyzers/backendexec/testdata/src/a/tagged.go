//go:build sbxnever

package a

func tagged() { undefined() }
