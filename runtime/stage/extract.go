package stage

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// Extractor unpacks the archives of one export below a directory of the controller's. It is not safe for concurrent use.
//
// The order of calls is NewExtractor, Extract for each archive, Finish, Close. Unless Finish returned nil, Close removes everything that
// was written: a partial export is never there to be taken for a whole one.
type Extractor struct {
	sink  *sink
	ended bool
	done  bool
	err   error
}

// NewExtractor begins an export to dir, which must exist and be empty. A bound that is zero is the default of this package.
func NewExtractor(dir string, a runtime.Artifacts) (*Extractor, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, exportFailure(err, "opening the place of the export")
	}
	if err := empty(root); err != nil {
		return nil, exportFailure(errors.Join(err, root.Close()), "the place of the export")
	}
	return &Extractor{sink: newSink(root, newBounds(a.Files, a.Bytes, a.Depth), true)}, nil
}

func empty(root *os.Root) (err error) {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer func() {
		if closed := d.Close(); err == nil {
			err = closed
		}
	}()
	switch names, err := d.Readdirnames(1); {
	case len(names) > 0:
		return fmt.Errorf("%q is there already: %w", names[0], fs.ErrExist)
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}

func exportFailure(err error, format string, args ...any) error {
	return failure(runtime.StepExport, "artifacts", err, format, args...)
}

// Extract unpacks one tar archive below at, a relative path ("." for the directory itself). ctx bounds it: where it ends first, body is closed if
// it is an io.Closer. After an error the export is over: later calls return the same error.
//
// An archive without its end mark is refused, because one that was cut off between two files reads like a whole one. Files keep their
// permission bits and are always readable and writable by the owner; the manifest has the bits as the archive says them. Owners, times and
// extended attributes are not kept.
func (x *Extractor) Extract(ctx context.Context, at string, body io.Reader) error {
	return x.bounded(ctx, body, &names{at: at})
}

// ExtractAs unpacks an archive of one file or directory and gives it the name at: what the archive calls it (engines differ) is left off. All
// of the archive must be at or below its first entry, and there must be one.
func (x *Extractor) ExtractAs(ctx context.Context, at string, body io.Reader) error {
	return x.bounded(ctx, body, &names{at: at, rename: true})
}

func (x *Extractor) bounded(ctx context.Context, body io.Reader, n *names) error {
	if x.err != nil {
		return x.err
	}
	if x.done {
		return exportFailure(fs.ErrClosed, "extracting after the export was finished")
	}
	if c, ok := body.(io.Closer); ok {
		stop := context.AfterFunc(ctx, func() { _ = c.Close() }) // the reading fails of it, and ctx says why
		defer stop()
	}
	if err := x.extract(ctx, body, n); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		x.err = exportFailure(err, "extracting the archive")
		return x.err
	}
	return nil
}

func (x *Extractor) extract(ctx context.Context, body io.Reader, n *names) error {
	if !validName(n.at) && (n.at != "." || n.rename) {
		return fmt.Errorf("place %q: %w", n.at, fs.ErrInvalid)
	}
	in := &counter{r: body}
	archive := tar.NewReader(in)
	// Headers that are no entries are bounded like entries: they cost time too.
	others := newBounds(x.sink.bounds.files, 0, 0)
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		before := in.n
		h, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF) && in.n-before >= endMark:
			if n.rename && n.top == "" {
				return refuse("the archive holds nothing")
			}
			return nil
		case errors.Is(err, io.EOF):
			return fmt.Errorf("the archive is cut off: %w", io.ErrUnexpectedEOF)
		case err != nil:
			return err
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			if err := others.entry(); err != nil {
				return err
			}
			continue
		}
		if err := x.entry(ctx, n, h, archive); err != nil {
			return fmt.Errorf("%q: %w", h.Name, err)
		}
	}
}

// endMark is what ends an archive: two blocks of zeros (tar(5)). tar.Reader gives io.EOF for it and for a plain end of the input alike; before
// the mark it reads less than one block of padding, so that what one call read tells them apart.
const endMark = 2 * 512

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (x *Extractor) entry(ctx context.Context, n *names, h *tar.Header, content io.Reader) error {
	name, err := n.place(h.Name)
	if err != nil {
		return err
	}
	mode := fs.FileMode(h.Mode & 0o777)
	switch h.Typeflag {
	case tar.TypeDir:
		if name == "." {
			return nil // the archive's own root
		}
		return x.sink.dir(name, mode)
	case tar.TypeReg, tar.TypeGNUSparse:
		const setID = 0o6000
		if h.Mode&setID != 0 {
			return refuse("it is set-user-id or set-group-id")
		}
		if h.Size > x.sink.bounds.room() {
			return x.sink.bounds.content(h.Size) // before anything of it is written
		}
		return x.sink.file(ctx, name, mode, content)
	case tar.TypeSymlink:
		return x.sink.link(name, h.Linkname)
	case tar.TypeLink:
		old, err := n.place(h.Linkname)
		if err != nil {
			return refuse("a hard link to %q, which is out of the tree", h.Linkname)
		}
		return x.sink.same(name, old)
	}
	return refuse("it is neither a directory, a file nor a link (tar type %q)", h.Typeflag)
}

// names gives the names of an archive their place in the export.
type names struct {
	at     string
	rename bool
	top    string // the name of the first entry, with rename
	rooted bool   // with rename: the first entry is "/", and all names are from there
}

func (n *names) place(name string) (string, error) {
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", refuse("its name leads out of the archive")
		}
	}
	// Podman 4.3 archives the place of a volume as "/", and what is in it as "/name".
	n.rooted = n.rooted || n.rename && n.top == "" && name == "/"
	if n.rooted {
		name = "./" + name
	}
	if strings.HasPrefix(name, "/") {
		return "", refuse("its name is absolute")
	}
	name = path.Clean(name)
	if !n.rename {
		return path.Join(n.at, name), nil
	}
	if n.top == "" {
		n.top = name
	}
	rest, below := strings.CutPrefix(name, n.top)
	switch {
	case n.top == ".":
		return path.Join(n.at, name), nil
	case !below || rest != "" && rest[0] != '/':
		return "", refuse("it is not below %q, the first entry", n.top)
	}
	return n.at + rest, nil
}

// Finish checks the export as a whole and gives its manifest. Only a manifest from here is whole.
func (x *Extractor) Finish() (*runtime.Manifest, error) {
	if x.err == nil && !x.done {
		if err := x.sink.finish(); err != nil {
			x.err = exportFailure(err, "checking the export")
		}
	}
	if x.err != nil {
		return x.Partial(), x.err
	}
	x.done = true
	m := x.sink.manifest()
	m.Whole = true
	return m, nil
}

// Partial lists what was extracted so far, marked as not whole: evidence for a failure.
func (x *Extractor) Partial() *runtime.Manifest { return x.sink.manifest() }

// Close ends the export; without a successful Finish it removes everything that was extracted. Idempotent.
func (x *Extractor) Close() error {
	if x.ended {
		return nil
	}
	x.ended = true
	var err error
	if !x.done {
		if err = x.sink.discard(); err != nil {
			f := exportFailure(err, "removing a partial export").(*runtime.Failure)
			f.Kind = runtime.Uncertain
			f.Left = []runtime.Leftover{{What: "directory", Name: x.sink.root.Name(), Settle: "rm -r -- " + runtime.ShellQuote(x.sink.root.Name())}}
			err = f
		}
	}
	if closed := x.sink.root.Close(); err == nil && closed != nil {
		err = exportFailure(closed, "closing the place of the export")
	}
	return err
}
