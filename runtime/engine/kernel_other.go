//go:build !linux

package engine

// kernelRelease is one that no engine has.
func kernelRelease() string { return "not Linux" }
