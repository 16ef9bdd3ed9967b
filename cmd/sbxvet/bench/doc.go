// Package bench holds a benchmark of sbxvet beside go vet on modules that are not ours.
package bench
