package engine

import (
	"context"
	"errors"
	"os/exec"
)

// exec runs a command inside. The client is not signalled, so that its exit status is the command's; an engine that did not run it gives 125
// to 127 (docker/cli, exec), which is then told apart by whether the container still runs.
func (c *cli) exec(ctx context.Context, name string, argv []string) (int, error) {
	cmd := c.client(ctx, append([]string{"exec", name}, argv...)...)
	says := capped{limit: maxSays}
	cmd.Stderr = &says
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case ctx.Err() != nil:
		return -1, context.Cause(ctx)
	case !errors.As(err, &exit) || exit.ExitCode() < 0:
		return -1, c.classify(ctx, &cliError{words: []string{"exec"}, says: says.String(), err: err}, c.there(name))
	}
	if i, err := c.inspect(ctx, name); err != nil || !phaseOf(i).lives() {
		return -1, c.classify(ctx, &cliError{words: []string{"exec"}, says: says.String(), err: exit}, c.there(name))
	}
	return exit.ExitCode(), nil
}
