// Package unix is a stub of what starts programs there.
package unix

func Exec(argv0 string, argv []string, envv []string) error { return nil }
