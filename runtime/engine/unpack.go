package engine

import (
	"archive/tar"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// unpacker writes archives of an untrusted container below one directory, within bounds that hold over all of them.
type unpacker struct {
	root   *os.Root
	bounds runtime.Artifacts
	list   runtime.Manifest
}

func newUnpacker(dir string, bounds *runtime.Artifacts) (*unpacker, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &unpacker{root: root, bounds: *bounds}, nil
}

func (u *unpacker) close() { _ = u.root.Close() }

// manifest lists what was written, with a digest over the entries.
func (u *unpacker) manifest(whole bool) *runtime.Manifest {
	m := u.list
	m.Whole = whole
	slices.SortFunc(m.Files, func(a, b runtime.ManifestEntry) int { return cmp.Compare(a.Path, b.Path) })
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(m.Files); err != nil {
		// Entries are plain values: nothing in them can fail to be encoded.
		panic(err)
	}
	m.Digest = "sha256:" + hex.EncodeToString(h.Sum(nil))
	return &m
}

// unpack writes one archive to the place at. Its first entry is that place itself, whatever the engine calls it (Docker the last word of
// the path, Podman "/" for a mount). It refuses what leaves the directory by name or by link, and what is neither a directory, a regular
// file nor a symbolic link; whatever an archive says, os.Root keeps each write inside.
func (u *unpacker) unpack(at string, body io.Reader) error {
	if parent := path.Dir(at); parent != "." {
		if err := u.root.MkdirAll(parent, 0o755); err != nil {
			return err
		}
	}
	archive := tar.NewReader(body)
	top := ""
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the archive: %w", err)
		}
		clean := path.Clean("/" + h.Name)
		if top == "" {
			top = clean
		}
		if strings.Contains("/"+h.Name+"/", "/../") || !below(clean, top) {
			return fmt.Errorf("the archive names %q, which is outside of it", h.Name)
		}
		name := path.Join(at, strings.TrimPrefix(clean, top))
		if !fs.ValidPath(name) || name == "." {
			return fmt.Errorf("the archive names %q, which is no place for a file", h.Name)
		}
		if err := u.entry(name, h, archive); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
}

func (u *unpacker) entry(name string, h *tar.Header, content io.Reader) error {
	if d := u.bounds.Depth; d > 0 && strings.Count(name, "/")+1 > d {
		return fmt.Errorf("deeper than the bound of %d", d)
	}
	if n := u.bounds.Files; n > 0 && int64(len(u.list.Files)) >= n {
		return fmt.Errorf("more than the bound of %d files", n)
	}
	e := runtime.ManifestEntry{Path: name, Mode: uint32(h.Mode) & 0o777}
	switch h.Typeflag {
	case tar.TypeDir:
		if err := u.root.MkdirAll(name, 0o700); err != nil {
			return err
		}
		e.Mode |= uint32(fs.ModeDir)
	case tar.TypeReg:
		if n := u.bounds.Bytes; n > 0 && u.list.Bytes+h.Size > n {
			return fmt.Errorf("over the bound of %d bytes", n)
		}
		digest, err := u.file(name, h, content)
		if err != nil {
			return err
		}
		e.Size, e.Digest = h.Size, digest
		u.list.Bytes += h.Size
	case tar.TypeSymlink:
		if path.IsAbs(h.Linkname) || strings.HasPrefix(path.Join(path.Dir(name), h.Linkname), "..") {
			return fmt.Errorf("a symbolic link to %q, which is outside of the export", h.Linkname)
		}
		if err := u.root.Symlink(h.Linkname, name); err != nil {
			return err
		}
		e.Link = h.Linkname
	default:
		return fmt.Errorf("neither a directory, a regular file nor a symbolic link (tar type %q)", h.Typeflag)
	}
	u.list.Files = append(u.list.Files, e)
	return nil
}

// file writes a regular file and gives the digest of its content. Permissions are kept, set-user-id and the like are not; the owner may
// always read and write it.
func (u *unpacker) file(name string, h *tar.Header, content io.Reader) (digest string, err error) {
	f, err := u.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fs.FileMode(h.Mode)&0o777|0o600)
	if err != nil {
		return "", err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), content)
	if err != nil {
		return "", err
	}
	if n != h.Size {
		return "", io.ErrUnexpectedEOF
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}
