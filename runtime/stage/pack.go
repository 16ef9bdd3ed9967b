package stage

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Archive is the tar archive of a directory, made while it is read. Read it to its end or close it; Close tells what came of it.
type Archive struct {
	pipe *io.PipeReader
	done chan struct{}
	// files and bytes count the regular files and their content; they and err are set once done is closed.
	files, bytes int64
	err          error
}

// Pack archives a directory of the host: directories, regular files and symbolic links with their permission bits, all owned by one user
// as the reader numbers them. Nothing is followed out of the directory, and what else stands there is an error. ctx ends it.
func Pack(ctx context.Context, dir string, uid, gid int) *Archive {
	r, w := io.Pipe()
	a := &Archive{pipe: r, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		err := a.pack(ctx, w, dir, uid, gid)
		if !errors.Is(err, errClosedEarly) {
			a.err = err
		}
		w.CloseWithError(err) // nil is an end of file
	}()
	return a
}

// errClosedEarly is what packing meets when nobody reads on; the reader knows why.
var errClosedEarly = errors.New("the archive was closed before its end")

// Read gives the next bytes of the archive.
func (a *Archive) Read(p []byte) (int, error) { return a.pipe.Read(p) }

// Close ends the packing and waits for it. It gives what was packed and why packing failed; that nobody read to the end is no failure of it.
func (a *Archive) Close() (files, bytes int64, err error) {
	a.pipe.CloseWithError(errClosedEarly)
	<-a.done
	return a.files, a.bytes, a.err
}

func (a *Archive) pack(ctx context.Context, to io.Writer, dir string, uid, gid int) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() {
		if closed := root.Close(); err == nil {
			err = closed
		}
	}()
	w := tar.NewWriter(to)
	all := func() int64 { return 0 }
	err = walkTree(root, ".", all, func(name string, d fs.DirEntry) error {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		h := &tar.Header{Name: name, Uid: uid, Gid: gid, Mode: int64(info.Mode().Perm()), ModTime: info.ModTime(), Format: tar.FormatPAX}
		switch info.Mode().Type() {
		case fs.ModeDir:
			h.Typeflag, h.Name = tar.TypeDir, name+"/"
		case fs.ModeSymlink:
			h.Typeflag = tar.TypeSymlink
			if h.Linkname, err = root.Readlink(name); err != nil {
				return err
			}
		case 0:
			return a.file(w, root, h)
		default:
			return fmt.Errorf("%q is neither a directory, a file nor a link (%v)", name, info.Mode().Type())
		}
		return w.WriteHeader(h)
	})
	if err != nil {
		return err
	}
	return w.Close()
}

// file packs a regular file with the size it has when it is opened.
func (a *Archive) file(w *tar.Writer, root *os.Root, h *tar.Header) (err error) {
	f, info, err := openRegular(root, h.Name)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	h.Typeflag, h.Size = tar.TypeReg, info.Size()
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	n, err := io.Copy(w, io.LimitReader(f, h.Size))
	if err != nil {
		return err
	}
	if n != h.Size {
		return fmt.Errorf("%q changed while it was packed", h.Name)
	}
	a.files++
	a.bytes += n
	return nil
}
