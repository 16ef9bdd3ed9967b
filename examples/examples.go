// Package examples holds programs and specs that use the seam as somebody else's code would.
package examples

//go:generate go tool sbxgen generate -o . judge.yaml
