package stage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/sbxkit/sbxkit/runtime"
)

// sink writes a tree below one directory. It remembers each entry, so that nothing is written twice, below a link, or out of bounds.
type sink struct {
	root   *os.Root
	bounds bounds
	// digests says whether each file's content is digested for a manifest.
	digests bool
	// entries are what was written, by name.
	entries map[string]*runtime.ManifestEntry
	// top are the names in the directory itself, for taking everything back.
	top map[string]bool
}

func newSink(root *os.Root, b bounds, digests bool) *sink {
	return &sink{root: root, bounds: b, digests: digests, entries: map[string]*runtime.ManifestEntry{}, top: map[string]bool{}}
}

// Modes a directory and a file have at least, so that whoever takes the tree over can read it and take it away.
const (
	leastDir  fs.FileMode = 0o700
	leastFile fs.FileMode = 0o600
)

// add checks a name, makes the directories above it and counts the entry.
func (s *sink) add(name string) (*runtime.ManifestEntry, error) {
	if !validName(name) {
		return nil, refuse("its name leads out of the tree or is none")
	}
	if s.entries[name] != nil {
		return nil, refuse("it is there twice")
	}
	if err := s.bounds.deep(strings.Count(name, "/") + 1); err != nil {
		return nil, err // before the directories above it are made
	}
	if dir := path.Dir(name); dir != "." {
		switch above := s.entries[dir]; {
		case above == nil:
			if err := s.dir(dir, 0o755); err != nil {
				return nil, err
			}
		case fs.FileMode(above.Mode)&fs.ModeDir == 0:
			return nil, refuse("it stands below %q, which is no directory", dir)
		}
	} else {
		s.top[name] = true
	}
	if err := s.bounds.entry(); err != nil {
		return nil, err
	}
	e := &runtime.ManifestEntry{Path: name}
	s.entries[name] = e
	return e, nil
}

// dir makes a directory; one that was made as a parent gets its mode.
func (s *sink) dir(name string, mode fs.FileMode) error {
	if e := s.entries[name]; e != nil && fs.FileMode(e.Mode)&fs.ModeDir != 0 {
		e.Mode = uint32(fs.ModeDir | mode.Perm())
		return nil
	}
	e, err := s.add(name)
	if err != nil {
		return err
	}
	e.Mode = uint32(fs.ModeDir | mode.Perm())
	return s.root.Mkdir(name, leastDir)
}

// file writes a regular file of at most the bytes there is room for.
func (s *sink) file(ctx context.Context, name string, mode fs.FileMode, content io.Reader) (err error) {
	e, err := s.add(name)
	if err != nil {
		return err
	}
	f, err := s.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, leastFile)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	var to io.Writer = f
	var sum hash.Hash
	if s.digests {
		sum = sha256.New()
		to = io.MultiWriter(f, sum)
	}
	n, err := copyAtMost(ctx, to, content, s.bounds.room())
	if err != nil {
		return err
	}
	if err := s.bounds.content(n); err != nil {
		return err
	}
	e.Mode, e.Size = uint32(mode.Perm()), n
	if sum != nil {
		e.Digest = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	}
	return f.Chmod(mode.Perm() | leastFile)
}

// copyAtMost copies content; what is more than n bytes is not written, and one more is counted so that the bound is seen to be exceeded.
func copyAtMost(ctx context.Context, to io.Writer, content io.Reader, n int64) (int64, error) {
	const chunk = 4 << 20 // between two looks at the context
	var done int64
	for {
		if err := ctx.Err(); err != nil {
			return done, context.Cause(ctx)
		}
		limited := &io.LimitedReader{R: content, N: min(chunk, n-done)}
		if limited.N == 0 {
			var one [1]byte
			switch m, err := io.ReadFull(content, one[:]); {
			case m > 0:
				return n + 1, nil
			case errors.Is(err, io.EOF):
				return n, nil
			default:
				return n, err
			}
		}
		m, err := io.Copy(to, limited)
		done += m
		if err != nil || limited.N > 0 {
			return done, err
		}
	}
}

// link makes a symbolic link; where it leads is checked in the end, when all links are known.
func (s *sink) link(name, text string) error {
	if text == "" || strings.IndexByte(text, 0) >= 0 {
		return refuse("a link to nothing")
	}
	e, err := s.add(name)
	if err != nil {
		return err
	}
	e.Mode, e.Link = uint32(fs.ModeSymlink|0o777), text
	if strings.HasPrefix(text, "/") {
		return refuse("a link to %q, which is out of the tree", text)
	}
	return s.root.Symlink(text, name)
}

// same makes a hard link to a file that was written before.
func (s *sink) same(name, old string) error {
	first := s.entries[old]
	if first == nil || !fs.FileMode(first.Mode).IsRegular() {
		return refuse("a hard link to %q, which is no file of this tree", old)
	}
	e, err := s.add(name)
	if err != nil {
		return err
	}
	// Whoever copies the tree copies the content again.
	if err := s.bounds.content(first.Size); err != nil {
		return err
	}
	*e = *first
	e.Path = name
	return s.root.Link(old, name)
}

// finish checks the links and gives the directories their modes. Only then is the tree whole.
func (s *sink) finish() error {
	for name, e := range s.entries {
		if e.Link != "" {
			if err := s.stays(name); err != nil {
				return err
			}
		}
	}
	for name, e := range s.entries {
		if mode := fs.FileMode(e.Mode); mode.IsDir() && mode.Perm()|leastDir != leastDir {
			if err := s.root.Chmod(name, mode.Perm()|leastDir); err != nil {
				return err
			}
		}
	}
	return nil
}

// stays follows a link through the other links of the tree, as the kernel would, and refuses it where that leaves the tree. A link to what is
// not there, or in a circle, stays.
func (s *sink) stays(link string) error {
	rest := strings.Split(link, "/")
	at := "."
	for followed := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if at == "." {
				return fmt.Errorf("%q: %w", link, refuse("the link to %q leads out of the tree", s.entries[link].Link))
			}
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		e := s.entries[next]
		if e == nil || e.Link == "" {
			at = next
			continue
		}
		if followed++; followed > 255 {
			return nil
		}
		rest = append(strings.Split(e.Link, "/"), rest...)
	}
	return nil
}

// discard takes back everything that was written.
func (s *sink) discard() error {
	var errs []error
	for name := range s.top {
		err := s.root.RemoveAll(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && asRefusal(err) == nil { // such a name was never written
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// manifest lists what was written, by name.
func (s *sink) manifest() *runtime.Manifest {
	m := &runtime.Manifest{Bytes: s.bounds.haveBytes, Files: make([]runtime.ManifestEntry, 0, len(s.entries))}
	for _, e := range s.entries {
		m.Files = append(m.Files, *e)
	}
	slices.SortFunc(m.Files, func(a, b runtime.ManifestEntry) int { return strings.Compare(a.Path, b.Path) })
	m.Digest = runtime.DigestManifest(m.Files)
	return m
}

func asRefusal(err error) *refusal {
	var r *refusal
	if errors.As(err, &r) {
		return r
	}
	// A name the file system does not take is the tree's fault too.
	if errors.Is(err, syscall.ENAMETOOLONG) || errors.Is(err, syscall.EILSEQ) {
		return &refusal{text: err.Error()}
	}
	return nil
}
