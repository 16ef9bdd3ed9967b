package stage

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// gitNull is an empty configuration file.
const gitNull = os.DevNull

// gitWait is how long git may keep a pipe open after it ended.
const gitWait = 5 * time.Second

// gitEnvironment is everything git is started with: no configuration, attributes or hooks of the host or its user, no replaced objects, and no
// way out. A repository that fetches missing objects on demand (a partial clone) would start a transport, whose command its own
// configuration may name: no protocol is allowed, and newer versions are told not to fetch at all (git(1), ENVIRONMENT VARIABLES).
func gitEnvironment(repository string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "HOME=/nonexistent", "XDG_CONFIG_HOME=/nonexistent",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=" + gitNull, "GIT_CONFIG_GLOBAL=" + gitNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(repository),
	}
}

// gitCommand is git on a repository. Only commands that read objects are used: they run no hook, no filter and no attribute, whatever the
// repository's own configuration says. That is why another user's repository can be read as well (safe.directory).
func gitCommand(ctx context.Context, repository string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-c", "safe.directory=*", "-C", repository}, args...)...)
	cmd.Env = gitEnvironment(repository)
	cmd.WaitDelay = gitWait
	ownSession(cmd)
	return cmd
}

// gitError says what git said.
func gitError(ctx context.Context, cmd *exec.Cmd, stderr *bytes.Buffer, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	said := strings.TrimSpace(stderr.String())
	const most = 500
	if len(said) > most {
		said = said[:most] + "…"
	}
	return fmt.Errorf("git %s: %w: %s", cmd.Args[5], err, said)
}

// object is an entry of a git tree.
type object struct {
	mode, kind, id string
	size           int64
	name           string
}

// copyTreeish copies a tree of a repository by git's plumbing. Nothing is checked out: no filter runs, attributes (export-ignore,
// export-subst, line ends) are not applied, and large files kept elsewhere (LFS) are copied as the pointers that the tree has.
func copyTreeish(ctx context.Context, s *sink, repository, treeish string) (left []string, err error) {
	repository, err = filepath.Abs(repository)
	if err != nil {
		return nil, err
	}
	if repository, err = filepath.EvalSymlinks(repository); err != nil {
		return nil, err
	}
	if strings.HasPrefix(treeish, "-") || strings.ContainsAny(treeish, "\x00\n") {
		return nil, refuse("%q is no name of a tree", treeish)
	}
	id, err := resolve(ctx, repository, treeish)
	if err != nil {
		return nil, err
	}
	objects, err := listTree(ctx, s.bounds, repository, id)
	if err != nil {
		return nil, err
	}
	var blobs []object
	for _, o := range objects {
		switch {
		case repositoryState(filepath.Base(o.name)):
			return nil, refuse("%q: a tree holds no repository's own state", o.name)
		case o.kind == "commit":
			left = leave(left, o.name+" (a submodule)")
			err = s.dir(o.name, 0o755)
		case o.kind == "tree":
			err = s.dir(o.name, 0o755)
		default:
			blobs = append(blobs, o)
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", o.name, err)
		}
	}
	return left, copyBlobs(ctx, s, repository, blobs)
}

// resolve finds the id of the object that a name means, so that what is listed stays the same whatever becomes of the name.
func resolve(ctx context.Context, repository, treeish string) (string, error) {
	cmd := gitCommand(ctx, repository, "rev-parse", "--verify", "--quiet", "--end-of-options", treeish)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%q names nothing: %w", treeish, gitError(ctx, cmd, &stderr, err))
	}
	id := strings.TrimSpace(string(out))
	if strings.Trim(id, "0123456789abcdef") != "" || len(id) != 40 && len(id) != 64 {
		return "", fmt.Errorf("%q: git names the object %q", treeish, id)
	}
	return id, nil
}

// listTree lists a tree and all below it, within the bounds.
func listTree(ctx context.Context, b bounds, repository, tree string) ([]object, error) {
	listing, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := gitCommand(listing, repository, "ls-tree", "-r", "-t", "-l", "-z", "--full-tree", tree)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	objects, rerr := readTree(out, b)
	if rerr != nil {
		cancel() // git need not list the rest
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case rerr != nil:
		return nil, rerr
	case err != nil:
		return nil, gitError(ctx, cmd, &stderr, err)
	}
	return objects, nil
}

func readTree(out io.Reader, b bounds) ([]object, error) {
	var objects []object
	for in := bufio.NewReader(out); ; {
		line, err := readEntry(in)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		o, err := parseEntry(line)
		if err != nil {
			return nil, err
		}
		for _, err := range []error{b.deep(strings.Count(o.name, "/") + 1), b.entry(), b.content(o.size)} {
			if err != nil {
				return nil, fmt.Errorf("%q: %w", o.name, err)
			}
		}
		objects = append(objects, o)
	}
}

// longestEntry bounds one entry of a listing: a path of PATH_MAX and what stands before it.
const longestEntry = 4096 + 256

// readEntry reads up to the next NUL.
func readEntry(in *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		c, err := in.ReadByte()
		switch {
		case errors.Is(err, io.EOF) && b.Len() > 0:
			return "", io.ErrUnexpectedEOF
		case err != nil:
			return "", err
		case c == 0:
			return b.String(), nil
		case b.Len() >= longestEntry:
			return "", refuse("a name in the tree is longer than %d bytes", longestEntry)
		}
		b.WriteByte(c)
	}
}

// parseEntry reads "<mode> <type> <id> <size, padded>\t<name>" (git-ls-tree(1)).
func parseEntry(line string) (object, error) {
	head, name, ok := strings.Cut(line, "\t")
	f := strings.Fields(head)
	if !ok || len(f) != 4 {
		return object{}, fmt.Errorf("git lists %q: %w", line, fs.ErrInvalid)
	}
	o := object{mode: f[0], kind: f[1], id: f[2], name: name}
	if o.kind != "blob" {
		return o, nil
	}
	size, err := strconv.ParseInt(f[3], 10, 64)
	if err != nil || size < 0 {
		return object{}, fmt.Errorf("git lists %q with the size %q: %w", name, f[3], fs.ErrInvalid)
	}
	o.size = size
	return o, nil
}

// copyBlobs writes the files and links of a tree, read by one git.
func copyBlobs(ctx context.Context, s *sink, repository string, blobs []object) error {
	if len(blobs) == 0 {
		return nil
	}
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := gitCommand(reading, repository, "cat-file", "--batch")
	var stderr bytes.Buffer
	var ids strings.Builder
	for _, o := range blobs {
		ids.WriteString(o.id)
		ids.WriteByte('\n')
	}
	cmd.Stdin, cmd.Stderr = strings.NewReader(ids.String()), &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	werr := writeBlobs(ctx, s, bufio.NewReaderSize(out, 64<<10), blobs)
	if werr != nil {
		cancel() // git need not give the rest
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case werr == nil && err != nil:
		return gitError(ctx, cmd, &stderr, err)
	case errors.Is(werr, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: %w", werr, gitError(ctx, cmd, &stderr, err))
	}
	return werr
}

func writeBlobs(ctx context.Context, s *sink, in *bufio.Reader, blobs []object) error {
	for _, o := range blobs {
		if err := writeBlob(ctx, s, in, o); err != nil {
			return fmt.Errorf("%q: %w", o.name, err)
		}
	}
	return nil
}

// writeBlob reads one answer of git cat-file --batch, "<id> blob <size>\n<content>\n", and writes the entry.
func writeBlob(ctx context.Context, s *sink, in *bufio.Reader, o object) error {
	head, err := in.ReadString('\n')
	if err != nil {
		return fmt.Errorf("reading the object: %w", noEnd(err))
	}
	if want := fmt.Sprintf("%s blob %d\n", o.id, o.size); head != want {
		return fmt.Errorf("git gives %q for the object, not %q", head, want)
	}
	content := &io.LimitedReader{R: in, N: o.size}
	switch o.mode {
	case "120000":
		const longestLink = 4096
		if o.size > longestLink {
			return refuse("a link of %d bytes", o.size)
		}
		text, err := io.ReadAll(content)
		if err != nil {
			return err
		}
		err = s.link(o.name, string(text))
		if err != nil {
			return err
		}
	case "100755":
		err = s.file(ctx, o.name, 0o755, content)
	case "100644", "100664":
		err = s.file(ctx, o.name, 0o644, content)
	default:
		return refuse("it has the mode %s", o.mode)
	}
	if err != nil {
		return err
	}
	if content.N > 0 {
		return fmt.Errorf("reading the object: %w", io.ErrUnexpectedEOF)
	}
	if c, err := in.ReadByte(); err != nil || c != '\n' {
		return fmt.Errorf("reading the object: %w", noEnd(err))
	}
	return nil
}

// noEnd makes an end of input in the middle what it is.
func noEnd(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
