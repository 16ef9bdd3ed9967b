package process

import (
	"errors"
	"io/fs"
	"os/exec"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// defaultPath is what execvp searches where PATH is not set (glibc's confstr _CS_PATH, execvp(3)).
const defaultPath = "/bin:/usr/bin"

// searchPath gives PATH as the command's environment has it.
func searchPath(env []runtime.Variable) string {
	for _, v := range env {
		if v.Name == "PATH" {
			return v.Value
		}
	}
	return defaultPath
}

// findCommand looks up a command as execvp does, below the file system root that the descriptor root names, and without starting
// anything. It gives the path inside, or exec.ErrNotFound, or fs.ErrPermission where what is there cannot be executed.
func findCommand(root int, name, search, dir string) (string, error) {
	if strings.Contains(name, "/") {
		p := name
		if !path.IsAbs(p) {
			p = path.Join("/", dir, p)
		}
		return p, executable(root, p)
	}
	var denied error
	for d := range strings.SplitSeq(search, ":") {
		if !path.IsAbs(d) {
			d = path.Join("/", dir, d)
		}
		p := path.Join(d, name)
		err := executable(root, p)
		if err == nil {
			return p, nil
		}
		if errors.Is(err, fs.ErrPermission) {
			denied = err
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", exec.ErrNotFound
}

// executable says whether the file at path p below root could be executed.
func executable(root int, p string) error {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(root, p, &how)
	if err != nil {
		if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
			return fs.ErrPermission
		}
		return exec.ErrNotFound
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return exec.ErrNotFound
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o111 == 0 {
		return fs.ErrPermission
	}
	var sfs unix.Statfs_t
	if err := unix.Fstatfs(fd, &sfs); err == nil && sfs.Flags&unix.ST_NOEXEC != 0 {
		return fs.ErrPermission
	}
	return nil
}

// isDirectory says whether p below root is a directory.
func isDirectory(root int, p string) error {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_DIRECTORY, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(root, p, &how)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// verdict says why a command that was let go did not become the program asked for; nil where its program and directory are in order.
// root is its file system. It looks at what is there, never at what a program wrote.
func verdict(root int, r *runtime.Request) *runtime.Failure {
	if r.Dir != "" {
		if err := isDirectory(root, r.Dir); err != nil {
			return runtime.Fail(runtime.Setup, "the working directory %s cannot be entered inside: %w", r.Dir, err).
				About("workdir").WithCure("mount it, or choose a directory that exists inside")
		}
	}
	_, err := findCommand(root, r.Command[0], searchPath(r.Env), r.Dir)
	return commandFailure(r.Command[0], err)
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
