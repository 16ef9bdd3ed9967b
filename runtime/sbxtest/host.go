package sbxtest

import (
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// hostModel is the host that pinned plans are made for: a merged-usr Linux with the few paths the launches name. It is the same on every
// machine.
type hostModel struct{}

var _ runtime.HostView = hostModel{}

// runDir is the directory of the pinned run, which a copied workspace stands in.
const runDir = "/var/lib/sbx/runs/" + runID

// runID is the pinned run's.
const runID = "aaaaaaaaaaaaaaaaaaaaaaaaaa"

// links are the symbolic links of the model.
var links = map[string]string{"/bin": "usr/bin", "/sbin": "usr/sbin", "/lib": "usr/lib", "/lib64": "usr/lib64"}

// nodes are the other paths of the model, with their types.
var nodes = map[string]fs.FileMode{
	"/": fs.ModeDir, "/usr": fs.ModeDir, "/usr/bin": fs.ModeDir, "/usr/sbin": fs.ModeDir, "/usr/lib": fs.ModeDir, "/usr/lib64": fs.ModeDir,
	"/usr/bin/env": 0, "/usr/bin/sh": 0, "/usr/bin/true": 0, "/usr/bin/echo": 0,
	"/etc": fs.ModeDir, "/etc/hosts": 0, "/etc/resolv.conf": 0, "/etc/passwd": 0, "/etc/group": 0, "/etc/nsswitch.conf": 0,
	"/etc/ld.so.cache": 0, "/etc/ssl": fs.ModeDir, "/etc/ssl/certs": fs.ModeDir, "/etc/alternatives": fs.ModeDir, "/etc/localtime": 0,
	"/dev": fs.ModeDir, "/dev/fuse": fs.ModeDevice | fs.ModeCharDevice, "/dev/null": fs.ModeDevice | fs.ModeCharDevice,
	"/proc": fs.ModeDir, "/sys": fs.ModeDir, "/tmp": fs.ModeDir, "/run": fs.ModeDir, "/run/proxy.sock": fs.ModeSocket,
	"/home": fs.ModeDir, "/home/caller": fs.ModeDir, "/home/caller/project": fs.ModeDir, "/srv": fs.ModeDir, "/srv/data": fs.ModeDir, "/srv/data/tmp": fs.ModeDir,
	"/var": fs.ModeDir, "/var/lib": fs.ModeDir, "/opt": fs.ModeDir,
	"/var/lib/sbx": fs.ModeDir, "/var/lib/sbx/runs": fs.ModeDir, runDir: fs.ModeDir, runDir + "/workspace": fs.ModeDir,
}

// Lstat describes a path of the model.
func (hostModel) Lstat(name string) (fs.FileInfo, error) {
	name = path.Clean(name)
	if _, ok := links[name]; ok {
		return node{name, fs.ModeSymlink}, nil
	}
	if mode, ok := nodes[name]; ok {
		return node{name, mode}, nil
	}
	return nil, absent("lstat", name)
}

// Readlink gives the text of a link of the model.
func (hostModel) Readlink(name string) (string, error) {
	if text, ok := links[path.Clean(name)]; ok {
		return text, nil
	}
	return "", absent("readlink", name)
}

// ReadDir finds every directory of the model empty.
func (hostModel) ReadDir(name string) ([]fs.DirEntry, error) {
	if nodes[path.Clean(name)].IsDir() {
		return nil, nil
	}
	return nil, absent("readdir", name)
}

// ReadFile finds no file readable: no plan may depend on one.
func (hostModel) ReadFile(name string) ([]byte, error) { return nil, absent("read", name) }

func absent(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("not in the model of a host: %w", fs.ErrNotExist)}
}

// node is one path of the model.
type node struct {
	name string
	mode fs.FileMode
}

func (n node) Name() string { return path.Base(n.name) }
func (n node) Size() int64  { return 0 }
func (n node) Mode() fs.FileMode {
	if n.mode.IsDir() {
		return n.mode | 0o755
	}
	return n.mode | 0o644
}
func (n node) ModTime() time.Time { return time.Time{} }
func (n node) IsDir() bool        { return n.mode.IsDir() }
func (n node) Sys() any           { return nil }
