package mounts

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/sbxkit/sbxkit/runtime"
)

// knownSockets are where engines, buses and agents listen; a part may be a pattern of path.Match. /var/run is a link to /run.
var knownSockets = []string{
	"/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock", "/run/k3s/containerd/containerd.sock",
	"/run/crio/crio.sock", "/run/buildkit/buildkitd.sock", "/run/libvirt/libvirt-sock", "/run/snapd.socket",
	"/run/dbus/system_bus_socket", "/run/systemd/private",
	"/run/user/*/bus", "/run/user/*/docker.sock", "/run/user/*/podman/podman.sock", "/run/user/*/systemd/private",
	"/run/user/*/gnupg/S.gpg-agent*", "/run/user/*/keyring/*",
	"/var/lib/lxd/unix.socket", "/var/lib/incus/unix.socket", "/var/snap/lxd/common/lxd/unix.socket",
	"/home/*/.docker/run/docker.sock", "/home/*/.docker/desktop/docker.sock", "/home/*/.gnupg/S.gpg-agent*",
	"/root/.docker/run/docker.sock", "/root/.gnupg/S.gpg-agent*",
	"/tmp/ssh-*/agent.*",
}

// Bounds of the search for sockets by reading directories: how many directories a plan reads, and the largest one, by the size its
// file system gives it.
const (
	socketDirs    = 64
	socketDirSize = 256 << 10
)

// quietTrees hold an operating system's files. Nothing listens there, and they are too large to read at every launch.
var quietTrees = []string{"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/boot", "/sys", "/proc", "/dev"}

// busyTrees are where sockets are made; they are searched two directories deep.
var busyTrees = []string{"/run", "/tmp", "/var/run", "/var/tmp"}

// findSockets refuses every bind that shows a unix socket the policy does not allow: a read-only bind does not stop connect(2), and
// through an engine's or an agent's socket a command leaves its sandbox. A socket is found, cheapest first,
//
//   - as the source of a mount itself;
//   - where an engine, a bus or an agent is known to listen (knownSockets), also where its server is in another network namespace;
//   - at any depth, if it is bound in this network namespace: /proc/net/unix lists those (unix(7));
//   - by reading the sources' own directories, two deeper below /run and /tmp, never the trees of the operating system, at most
//     socketDirs directories a plan; a note says where that bound was met.
//
// A socket made after planning, or deep in a tree and served from another network namespace, is not found.
func (p *planner) findSockets() error {
	f := &socketFinder{planner: p, binds: p.bindsBySource(), judged: make(map[string]bool)}
	f.allow()
	err := p.live(func(r *request) error {
		if r.mode.Type() != fs.ModeSocket || !r.bind() && !(r.kind == runtime.MountSocket && strings.HasPrefix(r.m.Origin, "launch")) {
			return nil
		}
		return f.judge(r.source, r)
	})
	if err != nil {
		return err
	}
	if !p.host.looks() {
		return f.unseen()
	}
	for _, find := range []func() error{f.known, f.listed, f.read} {
		if err := find(); err != nil {
			return err
		}
	}
	return nil
}

type socketFinder struct {
	*planner
	binds   map[string][]*request
	allowed []Socket
	judged  map[string]bool
	reads   int
	cut     bool
}

// allow resolves the policy's own paths, so that both names of a socket are one.
func (f *socketFinder) allow() {
	for _, s := range f.in.Sockets {
		s.Path = clean(s.Path)
		if f.host.looks() {
			if real, _, err := f.host.real(s.Path); err == nil {
				s.Path = real
			}
		}
		f.allowed = append(f.allowed, s)
	}
}

// judge refuses r for showing the socket, unless the policy allows it.
func (f *socketFinder) judge(socket string, r *request) error {
	for _, a := range f.allowed {
		if within(socket, a.Path) {
			note := fmt.Sprintf("%s: it shows the unix socket %q, as the policy allows", r, socket)
			if a.Because != "" {
				note += ": " + a.Because
			}
			f.notes = append(f.notes, note)
			return nil
		}
	}
	return r.fail(runtime.Denied, "it shows the unix socket %q, and not even a read-only bind stops a command from connecting to it", socket).
		WithCure("bind less, mask the socket, or name it under the policy's sockets with a reason")
}

// found judges the binds that show what may be a socket at a path of the host.
func (f *socketFinder) found(file string) error {
	dir, _, err := f.host.real(parent(file))
	if err != nil {
		return nil // no way there for us is none for the command
	}
	file = path.Join(dir, path.Base(file))
	if f.judged[file] {
		return nil
	}
	f.judged[file] = true
	for dir := file; dir != "/"; {
		dir = parent(dir)
		for _, b := range f.binds[dir] {
			if f.coverOf(rebase(file, dir, b.place)) != b {
				continue
			}
			if f.host.lstat(file).mode.Type() != fs.ModeSocket {
				return nil
			}
			if err := f.judge(file, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// unseen judges the binds of a host that cannot be looked at, by the known places alone.
func (f *socketFinder) unseen() error {
	return f.live(func(r *request) error {
		if !r.bind() && r.kind != runtime.MountSocket {
			return nil
		}
		source := r.source
		if rest, ok := strings.CutPrefix(source, "/var/run"); ok && (rest == "" || rest[0] == '/') {
			source = "/run" + rest
		}
		for _, known := range knownSockets {
			if within(known, source) {
				if err := f.judge(known, r); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// known tries the places where sockets are known to be.
func (f *socketFinder) known() error {
	return f.live(func(r *request) error {
		if !r.bind() || !r.mode.IsDir() || quiet(r.source) {
			return nil
		}
		for _, pattern := range knownSockets {
			rest, ok := matchHead(pattern, r.source)
			if !ok {
				continue
			}
			if err := f.expand(r.source, rest); err != nil {
				return err
			}
		}
		return nil
	})
}

// matchHead matches a directory with the first parts of a pattern and gives the parts that follow.
func matchHead(pattern, dir string) (rest string, ok bool) {
	if dir == "/" {
		return pattern, true
	}
	for len(dir) > 0 {
		if len(pattern) == 0 {
			return "", false
		}
		part, want := dir[1:], pattern[1:]
		dir, pattern = "", ""
		if i := strings.IndexByte(part, '/'); i >= 0 {
			part, dir = part[:i], part[i:]
		}
		if i := strings.IndexByte(want, '/'); i >= 0 {
			want, pattern = want[:i], want[i:]
		}
		if part != want {
			if matched, err := path.Match(want, part); err != nil || !matched {
				return "", false
			}
		}
	}
	return pattern, pattern != ""
}

// expand tries each path below dir that the rest of a pattern matches.
func (f *socketFinder) expand(dir, rest string) error {
	if dir == "/" {
		dir = ""
	}
	star := strings.IndexByte(rest, '*')
	if star < 0 {
		return f.found(dir + rest)
	}
	head := rest[:strings.LastIndexByte(rest[:star], '/')]
	part, tail := rest[len(head)+1:], ""
	if i := strings.IndexByte(part, '/'); i >= 0 {
		part, tail = part[:i], part[i:]
	}
	for _, e := range f.list(dir + head) {
		if matched, err := path.Match(part, e.Name()); err != nil || !matched {
			continue
		}
		if err := f.expand(dir+head+"/"+e.Name(), tail); err != nil {
			return err
		}
	}
	return nil
}

// listed tries what the kernel lists as bound in this network namespace, one a line, the path last.
func (f *socketFinder) listed() error {
	if !slices.ContainsFunc(f.requests, func(r *request) bool { return !r.gone && r.bind() && r.mode.IsDir() && !quiet(r.source) }) {
		return nil
	}
	data, err := f.host.view.ReadFile("/proc/net/unix")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		f.notes = append(f.notes, fmt.Sprintf("unix sockets were looked for only in known places and by reading directories: %v", err))
		return nil
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		line := lines.Text()
		if i := strings.Index(line, " /"); i >= 0 {
			if err := f.found(clean(line[i+1:])); err != nil {
				return err
			}
		}
	}
	return nil
}

// read tries the entries of the sources' directories.
func (f *socketFinder) read() error {
	type place struct {
		dir  string
		deep int
	}
	var queue []place
	for _, r := range f.requests {
		if r.gone || !r.bind() || !r.mode.IsDir() {
			continue
		}
		if r.source == "/" {
			for _, b := range busyTrees {
				queue = append(queue, place{b, 2})
			}
		} else if busy(r.source) {
			queue = append(queue, place{r.source, 2})
		} else if !quiet(r.source) {
			queue = append(queue, place{r.source, 0})
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if !f.shownAnywhere(at.dir) {
			continue
		}
		for _, e := range f.list(at.dir) {
			switch {
			case e.Type() == fs.ModeSocket:
				if err := f.found(at.dir + "/" + e.Name()); err != nil {
					return err
				}
			case e.IsDir() && at.deep > 0:
				queue = append(queue, place{at.dir + "/" + e.Name(), at.deep - 1})
			}
		}
	}
	if f.cut {
		f.notes = append(f.notes, fmt.Sprintf("unix sockets were looked for in the first %d directories only, and in none of more than %d bytes",
			socketDirs, socketDirSize))
	}
	return nil
}

// shownAnywhere reports whether a bind shows the directory itself.
func (f *socketFinder) shownAnywhere(dir string) bool {
	for source := dir; ; source = parent(source) {
		for _, b := range f.binds[source] {
			if f.coverOf(rebase(dir, source, b.place)) == b {
				return true
			}
		}
		if source == "/" {
			return false
		}
	}
}

// list reads a directory within the bounds; what cannot be read holds nothing a command could reach.
func (f *socketFinder) list(dir string) []fs.DirEntry {
	if dir == "" {
		dir = "/"
	}
	real, e, err := f.host.real(dir)
	if err != nil || !e.mode.IsDir() {
		return nil
	}
	if f.reads >= socketDirs || e.size > socketDirSize {
		f.cut = true
		return nil
	}
	f.reads++
	entries, err := f.host.view.ReadDir(real)
	if err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, fs.ErrNotExist) {
		f.notes = append(f.notes, fmt.Sprintf("unix sockets could not be looked for in %q: %v", real, err))
	}
	return entries
}

// socketBelow finds a socket in a directory or one below it.
func (p *planner) socketBelow(dir string) string {
	f := &socketFinder{planner: p}
	for _, e := range f.list(dir) {
		switch {
		case e.Type() == fs.ModeSocket:
			return dir + "/" + e.Name()
		case e.IsDir():
			for _, sub := range f.list(dir + "/" + e.Name()) {
				if sub.Type() == fs.ModeSocket {
					return dir + "/" + e.Name() + "/" + sub.Name()
				}
			}
		}
	}
	return ""
}

func quiet(dir string) bool { return withinAny(dir, quietTrees) }
func busy(dir string) bool  { return withinAny(dir, busyTrees) }

func withinAny(dir string, trees []string) bool {
	for _, t := range trees {
		if within(dir, t) {
			return true
		}
	}
	return false
}
