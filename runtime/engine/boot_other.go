//go:build !linux

package engine

// bootID is empty: the engine runs on another kernel.
func bootID() string { return "" }
