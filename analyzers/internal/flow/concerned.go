package flow

import (
	"bytes"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/rule"
)

// marks are byte sequences one of which the source of a package must hold to be of any interest by itself: it starts a program, it
// carries a directive, it touches standard input.
var marks = [][]byte{
	[]byte(`"os/exec"`),
	[]byte(`"syscall"`),
	[]byte(`"golang.org/x/sys/`),
	[]byte(`StartProcess`),
	[]byte("\n//sbx:"),
	[]byte(`Stdin`),
	[]byte(`CloseWrite`),
	[]byte(`NewFile`),
	[]byte(`os.Environ`),
	[]byte(`FindProcess`),
}

// markedPrograms are the programs whose mere name in a constant makes a package interesting.
var markedPrograms = strings.Fields("sh bash dash zsh ksh fish cmd powershell python python3 perl ruby node osascript tmux busybox")

// MayMatter reports whether a package with those source files can be of interest even when nothing it imports is. It errs on the side
// of yes. Packages of the main modules are always looked at: they are few, and what only passes values on has no mark.
func MayMatter(sources [][]byte) bool {
	all := marks[:len(marks):len(marks)]
	for _, n := range rule.Current().ProgramNames() {
		all = append(all, []byte(n))
	}
	for _, n := range markedPrograms {
		all = append(all, []byte(`"`+n+`"`), []byte(`/bin/`+n+`"`))
	}
	for _, src := range sources {
		for _, m := range all {
			if bytes.Contains(src, m) {
				return true
			}
		}
	}
	return false
}

// concerned reports whether anything in the package can matter: something it imports has a summary, or MayMatter says so. A driver that
// asks MayMatter first, to spare itself the package, gets the same facts as one that does not.
func (r *Result) concerned() (bool, error) {
	pass := r.pass
	if pass.Module == nil || pass.Module.Version == "" {
		return true, nil
	}
	if len(r.objects) > 0 || len(r.hidden) > 0 {
		return true, nil
	}
	var sources [][]byte
	for _, f := range pass.Files {
		data, err := pass.ReadFile(pass.Fset.File(f.FileStart).Name())
		if err != nil {
			return false, err
		}
		sources = append(sources, data)
	}
	return MayMatter(sources), nil
}
