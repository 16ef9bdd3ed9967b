package b

import (
	"os/exec"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// What a launch holds that is not known is what the package stores in launches, and each of those stores is judged where it is.

func words(text string) []string { return []string{"sh", "-c", text} }

func ofWords(text string) sbx.Launch { return sbx.Launch{Argv: words(text)} } // want `launch hands program text`

func extended(l sbx.Launch) sbx.Launch {
	l.Argv = append(l.Argv, "x")
	return l
}

func extendedAt(l *sbx.Launch, m map[string]sbx.Launch) {
	l.Argv = append(l.Argv, "x")
	m["copy"] = sbx.Launch{Argv: m["x"].Argv}
	m["behind"] = sbx.Launch{Argv: append([]string{"nice"}, m["x"].Argv...)}
}

// Text that comes first here is judged here, whatever the list goes on with; behind words that are not known it is some program's.
func extendedWithShell(l sbx.Launch, m map[string]*sbx.Launch, x string) {
	m["x"].Argv = append([]string{"bash", "-c"}, m["x"].Argv...)                // want `launch hands program text to a shell or interpreter \(bash -c`
	m["y"] = &sbx.Launch{Argv: append([]string{"sh", "-c", x}, m["y"].Argv...)} // want `launch hands program text to a shell or interpreter \(sh -c`
	l.Argv = append(l.Argv, "bash", "-c", x)
}

// Started by itself it is a start of its own.
func unwrapped(m map[string]*sbx.Launch) error {
	argv := m["x"].Argv
	return exec.Command(argv[0], argv[1:]...).Run() // want `hands program text to a shell`
}
