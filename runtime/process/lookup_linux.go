package process

import (
	"errors"
	"io/fs"
	"os/exec"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
)

// verdict says why a command that was let go did not become the program asked for; nil where its program and directory are in order.
// root is its file system. It looks at what is there, never at what a program wrote.
func verdict(root int, r *runtime.Request) *runtime.Failure {
	if r.Dir != "" {
		if err := attest.Directory(root, r.Dir); err != nil {
			return runtime.Fail(runtime.Setup, "the working directory %s cannot be entered inside: %w", r.Dir, err).
				About("workdir").WithCure("mount it, or choose a directory that exists inside")
		}
	}
	file, err := attest.FindCommand(root, r.Command[0], attest.SearchPath(r.Env), r.Dir)
	if err != nil {
		return commandFailure(r.Command[0], err)
	}
	if missing := attest.MissingInterpreter(root, file, r.Dir); missing != "" {
		return runtime.Fail(runtime.Command, "%s needs %s to be executed by, which is not there: %w", r.Command[0], missing, exec.ErrNotFound).About("command").
			WithCure("mount the directory of %s, or name the program that is to read it", missing)
	}
	return nil
}

// commandFailure is the Failure of a command that cannot be executed.
func commandFailure(name string, err error) *runtime.Failure {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return runtime.Fail(runtime.Command, "%s: %w", name, exec.ErrNotFound).About("command").
			WithCure("give a path that exists inside, or mount the directory it is in and have it in PATH")
	case errors.Is(err, fs.ErrPermission):
		return runtime.Fail(runtime.Command, "%s cannot be executed: %w", name, fs.ErrPermission).About("command").
			WithCure("it must be a regular file with an execute bit, on a mount that permits execution")
	}
	return runtime.Fail(runtime.Command, "%s cannot be executed: %w", name, err).About("command")
}
