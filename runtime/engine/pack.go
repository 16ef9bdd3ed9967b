package engine

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
)

// stagedFile is one thing to put into a container.
type stagedFile struct {
	path     string // inside, absolute
	mode     int64
	uid, gid int
	data     []byte
	link     string // text of a symbolic link
	dir      bool
	// private files belong to the run's user.
	private bool
}

// pack makes a tar archive to unpack at dir. Missing parents are made, owned by root and open to be entered; they are in the archive once,
// before what is in them.
func pack(dir string, files []stagedFile) (io.Reader, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	made := map[string]bool{}
	for _, f := range files {
		name := relative(dir, f.path)
		if name == "" {
			continue
		}
		if err := packParents(w, name, made, dir != "/"); err != nil {
			return nil, err
		}
		h := &tar.Header{Name: name, Mode: f.mode, Uid: f.uid, Gid: f.gid, Typeflag: tar.TypeReg, Size: int64(len(f.data)), Format: tar.FormatPAX}
		switch {
		case f.link != "":
			h.Typeflag, h.Linkname, h.Size, h.Mode = tar.TypeSymlink, f.link, 0, 0o777
		case f.dir:
			h.Typeflag, h.Size, h.Name = tar.TypeDir, 0, name+"/"
			made[name] = true
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write(f.data); err != nil {
				return nil, fmt.Errorf("%s: %w", f.path, err)
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return &buf, nil
}

// packParents writes the directories above name. In the container's own root they are left to the engine, which makes what is missing and
// keeps what is there; an entry would change the mode of a directory of the image.
func packParents(w *tar.Writer, name string, made map[string]bool, entries bool) error {
	if !entries {
		return nil
	}
	var parents []string
	for p := path.Dir(name); p != "."; p = path.Dir(p) {
		parents = append(parents, p)
	}
	for _, p := range slices.Backward(parents) {
		if made[p] {
			continue
		}
		made[p] = true
		if err := w.WriteHeader(&tar.Header{Name: p + "/", Mode: 0o755, Typeflag: tar.TypeDir, Format: tar.FormatPAX}); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}

// tree is the archive of a directory, made while it is read.
type tree struct {
	*io.PipeReader
	done  chan struct{}
	files int
	bytes int64
	err   error
}

// packTree archives a directory of the host: directories, regular files and symbolic links with their modes, all owned by one user. Nothing
// is followed out of it. Read it to its end or close it.
func packTree(dir string, as owner) *tree {
	r, w := io.Pipe()
	t := &tree{PipeReader: r, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		err := t.pack(w, dir, as)
		if !errors.Is(err, errClosedEarly) {
			t.err = err
		}
		w.CloseWithError(err) // nil is an end of file
	}()
	return t
}

// errClosedEarly is what packing meets when nobody reads on; the reader knows why.
var errClosedEarly = errors.New("the archive was closed before its end")

// close ends the packing and waits for it.
func (t *tree) close() *tree {
	t.PipeReader.CloseWithError(errClosedEarly)
	<-t.done
	return t
}

func (t *tree) pack(to io.Writer, dir string, as owner) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	w := tar.NewWriter(to)
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		i, err := d.Info()
		if err != nil {
			return err
		}
		link := ""
		switch {
		case i.Mode()&fs.ModeSymlink != 0:
			if link, err = root.Readlink(name); err != nil {
				return err
			}
		case !i.IsDir() && !i.Mode().IsRegular():
			return fmt.Errorf("%s is neither a file, a directory nor a symbolic link", name)
		}
		h, err := tar.FileInfoHeader(i, link)
		if err != nil {
			return err
		}
		h.Name, h.Uid, h.Gid, h.Uname, h.Gname, h.Format = name, as.uid, as.gid, "", "", tar.FormatPAX
		if i.IsDir() {
			h.Name += "/"
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if !i.Mode().IsRegular() {
			return nil
		}
		return t.content(w, root, name, h.Size)
	})
	if err != nil {
		return err
	}
	return w.Close()
}

func (t *tree) content(w io.Writer, root *os.Root, name string, size int64) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.Copy(w, io.LimitReader(f, size))
	if err != nil {
		return err
	}
	if n != size {
		return fmt.Errorf("%s changed while it was read", name)
	}
	t.files++
	t.bytes += n
	return nil
}
