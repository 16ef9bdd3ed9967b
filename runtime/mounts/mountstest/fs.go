// Package mountstest has what tests of mount plans need: a model of a host's file system (FS), a model of the tool that carries out a
// plan (World), and the layouts of real distributions.
package mountstest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// FS is a model of a host's file system: a runtime.HostView that needs no host. It is not safe for concurrent use while it is changed.
type FS struct {
	nodes map[string]*node
	// Lstats counts the calls of Lstat by path.
	Lstats map[string]int
}

type node struct {
	mode fs.FileMode
	text string // content of a file, text of a link
}

// New makes a file system with an empty root.
func New() *FS {
	return &FS{nodes: map[string]*node{"/": {mode: fs.ModeDir | 0o755}}, Lstats: map[string]int{}}
}

// Parse makes a file system of one entry a line; parents are made. An entry is
//
//	/usr/bin/            a directory
//	/etc/passwd          a file whose content is its own path
//	/w/.git : text       a file with that content and a line break
//	/bin -> usr/bin      a link
//	/run/docker.sock =   a unix socket
//	/dev/null %          a character device
func Parse(text string) *FS {
	f := New()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "":
		case strings.HasSuffix(name, "/"):
			f.Dir(strings.TrimSuffix(name, "/"))
		case rest == "":
			f.File(name, name)
		case strings.HasPrefix(rest, ": "):
			f.File(name, rest[2:]+"\n")
		case strings.HasPrefix(rest, "-> "):
			f.Link(name, rest[3:])
		case rest == "=":
			f.add(name, &node{mode: fs.ModeSocket | 0o666})
		case rest == "%":
			f.add(name, &node{mode: fs.ModeDevice | fs.ModeCharDevice | 0o666})
		default:
			panic(fmt.Sprintf("mountstest.Parse: line %q is no entry", line))
		}
	}
	return f
}

func (f *FS) add(name string, n *node) {
	if name != "/" {
		f.Dir(path.Dir(name))
	}
	f.nodes[name] = n
}

// Dir makes a directory and its parents; name is clean and absolute.
func (f *FS) Dir(name string) {
	if n := f.nodes[name]; n == nil {
		f.add(name, &node{mode: fs.ModeDir | 0o755})
	} else if !n.mode.IsDir() {
		panic(fmt.Sprintf("mountstest: %q is no directory", name))
	}
}

// File makes a file.
func (f *FS) File(name, content string) { f.add(name, &node{mode: 0o644, text: content}) }

// Link makes a symbolic link.
func (f *FS) Link(name, text string) { f.add(name, &node{mode: fs.ModeSymlink | 0o777, text: text}) }

// Socket makes a unix socket.
func (f *FS) Socket(name string) { f.add(name, &node{mode: fs.ModeSocket | 0o666}) }

// Paths lists every entry, sorted.
func (f *FS) Paths() []string {
	var list []string
	for p := range f.nodes {
		list = append(list, p)
	}
	slices.Sort(list)
	return list
}

// String lists the entries in Parse's form, contents left out.
func (f *FS) String() string {
	var b strings.Builder
	for _, p := range f.Paths() {
		switch n := f.nodes[p]; {
		case n.mode.IsDir():
			fmt.Fprintf(&b, "%s/\n", strings.TrimSuffix(p, "/"))
		case n.mode&fs.ModeSymlink != 0:
			fmt.Fprintf(&b, "%s -> %s\n", p, n.text)
		default:
			fmt.Fprintf(&b, "%s\n", p)
		}
	}
	return b.String()
}

// Real resolves every link on a path; the path must exist.
func (f *FS) Real(name string) (string, error) { return f.resolve(name, true, 0) }

func (f *FS) resolve(name string, last bool, links int) (string, error) {
	at := "/"
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' })
	for i, part := range parts {
		n := f.nodes[at]
		switch {
		case !n.mode.IsDir():
			return "", syscall.ENOTDIR
		case part == ".":
			continue
		case part == "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		n = f.nodes[next]
		if n == nil {
			return "", fs.ErrNotExist
		}
		if n.mode&fs.ModeSymlink != 0 && (last || i+1 < len(parts)) {
			if links++; links > 40 {
				return "", syscall.ELOOP
			}
			to := n.text
			if to[0] != '/' {
				to = at + "/" + to
			}
			return f.resolve(to+"/"+strings.Join(parts[i+1:], "/"), last, links)
		}
		at = next
	}
	return at, nil
}

// Lstat is os.Lstat on the model.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	f.Lstats[name]++
	at, err := f.resolve(name, false, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return info{path.Base(at), f.nodes[at]}, nil
}

// Readlink is os.Readlink on the model.
func (f *FS) Readlink(name string) (string, error) {
	at, err := f.resolve(name, false, 0)
	if err == nil && f.nodes[at].mode&fs.ModeSymlink == 0 {
		err = syscall.EINVAL
	}
	if err != nil {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
	}
	return f.nodes[at].text, nil
}

// ReadDir is os.ReadDir on the model.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	at, err := f.Real(name)
	if err == nil && !f.nodes[at].mode.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	var list []fs.DirEntry
	for _, p := range f.Paths() {
		if p != "/" && path.Dir(p) == at {
			list = append(list, fs.FileInfoToDirEntry(info{path.Base(p), f.nodes[p]}))
		}
	}
	return list, nil
}

// ReadFile is os.ReadFile on the model.
func (f *FS) ReadFile(name string) ([]byte, error) {
	at, err := f.Real(name)
	if err == nil && !f.nodes[at].mode.IsRegular() {
		err = errors.ErrUnsupported
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return []byte(f.nodes[at].text), nil
}

// Build makes the model real below a directory of this host: directories, files and links with their own texts; sockets and devices
// become empty files.
func (f *FS) Build(dir string) error {
	for _, p := range f.Paths() {
		n, at := f.nodes[p], filepath.Join(dir, p)
		var err error
		switch {
		case p == "/":
		case n.mode.IsDir():
			err = os.Mkdir(at, 0o755)
		case n.mode&fs.ModeSymlink != 0:
			err = os.Symlink(n.text, at)
		default:
			err = os.WriteFile(at, []byte(n.text), 0o644)
		}
		if err != nil {
			return fmt.Errorf("building the model: %w", err)
		}
	}
	return nil
}

type info struct {
	name string
	n    *node
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return int64(len(i.n.text)) }
func (i info) Mode() fs.FileMode  { return i.n.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.n.mode.IsDir() }
func (i info) Sys() any           { return nil }
