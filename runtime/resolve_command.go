package runtime

import (
	"os/exec"
	"slices"
	"strings"
)

func (r *resolver) command() error {
	l := r.l
	if (len(l.Argv) > 0) == (l.Script != nil) {
		return denied("command", "a launch needs exactly one of Argv and Script")
	}
	words := l.Argv
	if l.Script != nil {
		if len(l.Script.Interpreter) == 0 {
			return denied("script", "a script needs an interpreter").WithCure(`set Script.Interpreter, such as {"/bin/sh", "-eu"}`)
		}
		r.ask("script")
		words = append(slices.Clone(l.Script.Interpreter), ScriptTarget)
		words = append(words, l.Script.Args...)
		r.req.Script = &StagedScript{Target: ScriptTarget, Text: l.Script.Text, Word: len(l.Script.Interpreter)}
	}
	r.ask("command")
	if words[0] == "" {
		return denied("command", "the program's name is empty").Because(exec.ErrNotFound)
	}
	for i, w := range words {
		if strings.IndexByte(w, 0) >= 0 {
			return denied("command", "word %d of the command holds a NUL byte, which no command line can carry", i)
		}
	}
	r.req.Command = words
	return nil
}
