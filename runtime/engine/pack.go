package engine

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
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
