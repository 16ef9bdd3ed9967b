//go:build !linux

package engine

// bootID is empty: the engine runs on another kernel.
func bootID() string { return "" }

// kernelRelease is one that no engine has.
func kernelRelease() string { return "not Linux" }
