package mounts

import (
	"path"
	"strings"
)

// clean gives an absolute path without empty and "." parts and without a slash at the end. It does not look at "..": callers refuse it.
func clean(p string) string { return path.Clean(p) }

// depth counts the parts of a clean absolute path; the root has none.
func depth(p string) int {
	if p == "/" {
		return 0
	}
	return strings.Count(p, "/")
}

// parent gives the directory of a clean absolute path; the root's is the root.
func parent(p string) string {
	i := strings.LastIndexByte(p, '/')
	if i <= 0 {
		return "/"
	}
	return p[:i]
}

// within reports whether the clean absolute path p is dir or stands below it.
func within(p, dir string) bool {
	return dir == "/" || p == dir || len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir
}

// rebase moves p, which is at or below from, to the same place below to.
func rebase(p, from, to string) string {
	if from == to {
		return p
	}
	rest := p
	if from != "/" {
		rest = p[len(from):]
	}
	switch {
	case rest == "" || rest == "/":
		return to
	case to == "/":
		return rest
	}
	return to + rest
}
