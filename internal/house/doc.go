// Package house holds the tests of the tree itself: what stands at its root, which room may import what, that the spec's vocabulary is the
// launch's, and that what the README shows is true.
package house
