package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// setup makes the Failure of a call that the engine refused or did not answer, before the command can have run.
func (b *Backend) setup(l link, err error, format string, args ...any) *runtime.Failure {
	what := fmt.Sprintf(format, args...)
	if answered(err) {
		return runtime.Fail(runtime.Setup, "%s: %w", what, err)
	}
	return runtime.Fail(runtime.Setup, "%s: no answer from %s: %w", what, l.endpoint().host, err).WithCure("see whether the engine still runs")
}

// leftContainer names a container that could not be seen gone, and the command that settles it.
func (b *Backend) leftContainer(l link, name string) runtime.Leftover {
	return runtime.Leftover{What: "container", Name: name, Settle: b.command(l, "rm", "--force", "--volumes", name)}
}

// command is a command line of the engine's own program for a person.
func (b *Backend) command(l link, words ...string) string {
	all := []string{b.def.Program}
	if e := l.endpoint(); e.context != "" {
		all = append(all, "--context", e.context)
	} else if !strings.HasPrefix(e.from, "a default") {
		all = append(all, hostFlag(b.def.Program), e.host)
	}
	return shellWords(append(all, words...))
}

func shellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = runtime.ShellQuote(w)
	}
	return strings.Join(quoted, " ")
}

// discreet hides private values in an engine's messages: engines quote what they were sent.
type discreet struct {
	err     error
	private []string
}

// hide wraps err where its text holds a private value of the request.
func hide(err error, r *runtime.Request) error {
	if err == nil {
		return nil
	}
	var private []string
	add := func(v string) {
		if v != "" && strings.Contains(err.Error(), v) {
			private = append(private, v)
		}
	}
	for _, v := range r.Env {
		if !v.Public {
			add(v.Value)
		}
	}
	for _, c := range r.Credentials {
		add(string(c.Value))
	}
	if len(private) == 0 {
		return err
	}
	return &discreet{err, private}
}

func (d *discreet) Error() string {
	s := d.err.Error()
	for _, p := range d.private {
		s = strings.ReplaceAll(s, p, "<redacted>")
	}
	return s
}

// Is and As look into the error without handing it out: its text holds the value.
func (d *discreet) Is(target error) bool { return errors.Is(d.err, target) }

// As is like Is.
func (d *discreet) As(target any) bool { return errors.As(d.err, target) }
