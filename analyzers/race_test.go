//go:build race

package analyzers_test

// slowdown is what the race detector makes of processor time.
const slowdown = 5
