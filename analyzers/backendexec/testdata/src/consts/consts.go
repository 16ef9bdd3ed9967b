// Package consts only names programs.
package consts

const Docker = "docker"

const Git = "git"

var Engine = "podman"

var Table = map[string]string{"a": "bwrap", "b": "make"}

var List = []string{"git", "nerdctl"}

var Tool = struct{ Name, Flag string }{"/usr/bin/docker", "-v"}

// Config is filled in by others.
type Config struct{ Engine string }

// Default holds the name in a field.
func Default() *Config { return &Config{Engine: "docker"} }

// Name returns a constant.
func Name() string { return "docker" }

// Pick returns one of its arguments.
func Pick(a, b string, first bool) string {
	if first {
		return a
	}
	return b
}
