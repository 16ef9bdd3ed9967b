package main

// backendPrograms returns the names of the programs that the built-in specs start.
func backendPrograms() []string { return nil }
