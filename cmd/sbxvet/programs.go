package main

import "github.com/sbxkit/sbxkit/spec"

// backendPrograms returns the names of the programs that the built-in specs start.
func backendPrograms() ([]string, error) { return spec.Programs() }
