package attest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os/exec"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// workdir holds where the process stands in the directory that was asked for.
func (s *Subject) workdir(runtime.Claim) verdict {
	root, err := s.rootDir()
	if err != nil {
		return unknown(err)
	}
	var want, have unix.Stat_t
	dir, err := openIn(root, s.expect.Request.Dir, unix.O_DIRECTORY)
	if err != nil {
		return broken("%s is no directory inside: %v", s.expect.Request.Dir, err)
	}
	defer unix.Close(dir)
	if err := unix.Fstat(dir, &want); err != nil {
		return unknown(err)
	}
	if err := unix.Stat(s.base+"/cwd", &have); err != nil {
		return unknown(err)
	}
	if have.Dev != want.Dev || have.Ino != want.Ino {
		where, _ := link(s.base + "/cwd")
		return broken("cwd: %s", where)
	}
	return holds("cwd: the directory %s", s.expect.Request.Dir)
}

// command holds where the process runs the program that was asked for, with the words that were asked for. A script's program is its
// interpreter, with the script's path and words at the end (execve(2)).
func (s *Subject) command(runtime.Claim) verdict {
	r := s.expect.Request
	b, err := readAll(s.base+"/cmdline", make([]byte, 4096))
	if err != nil {
		return unknown(err)
	}
	have := strings.Split(string(bytes.TrimSuffix(b, []byte{0})), "\x00")
	root, err := s.rootDir()
	if err != nil {
		return unknown(err)
	}
	file, err := FindCommand(root, r.Command[0], SearchPath(r.Env), r.Dir)
	if err != nil {
		return broken("%s is not inside: %v", r.Command[0], err)
	}
	fd, err := openIn(root, file, 0)
	if err != nil {
		return unknown(err)
	}
	defer unix.Close(fd)
	var want, exe unix.Stat_t
	if err := unix.Fstat(fd, &want); err != nil {
		return unknown(err)
	}
	if err := unix.Stat(s.base+"/exe", &exe); err != nil {
		return unknown(err)
	}
	if want.Dev == exe.Dev && want.Ino == exe.Ino {
		return hold(slices.Equal(have, r.Command), "exe: %s; cmdline: %d words", file, len(have))
	}
	n := len(r.Command)
	if len(have) > n && have[len(have)-n] == file && slices.Equal(have[len(have)-n+1:], r.Command[1:]) {
		where, _ := link(s.base + "/exe")
		return holds("exe: %s, interpreter of %s; cmdline: %d words", where, file, len(have))
	}
	where, _ := link(s.base + "/exe")
	return broken("exe: %s, and not %s", where, file)
}

// Given measures the claim of the command at a launcher that has not executed it yet: its own last words are the command's.
func (s *Subject) Given(c runtime.Claim, when string) runtime.Guarantee {
	g := runtime.Guarantee{Name: c.Name, Claimed: c.Value, Required: c.Required, When: when}
	v := s.given()
	g.Measured, g.Evidence = v.measured, v.evidence
	return g
}

func (s *Subject) given() verdict {
	b, err := readAll(s.base+"/cmdline", make([]byte, 4096))
	if err != nil {
		return unknown(err)
	}
	have, want := strings.Split(string(bytes.TrimSuffix(b, []byte{0})), "\x00"), s.expect.Request.Command
	if n := len(have) - len(want); n < 0 || !slices.Equal(have[n:], want) {
		return broken("cmdline: %d words of the launcher, of which the last are not the command's", len(have))
	}
	return holds("cmdline: the last %d words of the launcher", len(want))
}

// DefaultPath is what execvp searches where PATH is not set (glibc's confstr _CS_PATH, execvp(3)).
const DefaultPath = "/bin:/usr/bin"

// SearchPath gives PATH as a command's environment has it.
func SearchPath(env []runtime.Variable) string {
	for _, v := range env {
		if v.Name == "PATH" {
			return v.Value
		}
	}
	return DefaultPath
}

// openIn opens p as a process sees it whose root directory is root: links lead where they lead inside, and never out.
func openIn(root int, p string, flags uint64) (int, error) {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | flags, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	return unix.Openat2(root, p, &how)
}

// FindCommand looks up a command as execvp does, below the file system root that the descriptor root names, and without starting
// anything. It gives the path inside, or exec.ErrNotFound, or fs.ErrPermission where what is there cannot be executed.
func FindCommand(root int, name, search, dir string) (string, error) {
	if strings.Contains(name, "/") {
		p := name
		if !path.IsAbs(p) {
			p = path.Join("/", dir, p)
		}
		return p, Executable(root, p)
	}
	denied := false
	for d := range strings.SplitSeq(search, ":") {
		if !path.IsAbs(d) {
			d = path.Join("/", dir, d)
		}
		p := path.Join(d, name)
		err := Executable(root, p)
		if err == nil {
			return p, nil
		}
		denied = denied || err == fs.ErrPermission
	}
	if denied {
		return "", fs.ErrPermission
	}
	return "", exec.ErrNotFound
}

// Executable says whether the file at path p below root could be executed: nil, exec.ErrNotFound or fs.ErrPermission.
func Executable(root int, p string) error {
	fd, err := openIn(root, p, 0)
	if err != nil {
		if err == unix.EACCES || err == unix.EPERM {
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

// Directory says whether p below root is a directory.
func Directory(root int, p string) error {
	fd, err := openIn(root, p, unix.O_DIRECTORY)
	if err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	return unix.Close(fd)
}
