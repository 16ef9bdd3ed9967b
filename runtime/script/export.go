package script

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/stage"
)

// defaultFileMode is the permission of an artifact whose script names none.
const defaultFileMode fs.FileMode = 0o644

// Export hands those of the script's artifacts that stand at or below a declared path over as an engine does: an archive for each path,
// unpacked to dir by the stage room, within its bounds. What is below the workspace stands in dir by its path from there, everything else by
// its whole path.
func (r *resources) Export(ctx context.Context, dir string, a *runtime.Artifacts) (*runtime.Manifest, error) {
	m := &runtime.Manifest{}
	err := r.b.call(ctx, r.player, r.run(), OnExport, strings.Join(a.Paths, " "), func() (err error) {
		if err := r.reopened(runtime.StepExport); err != nil {
			return err
		}
		m, err = r.export(ctx, dir, a)
		return err
	})
	if err != nil {
		if m != nil {
			m.Whole = false // the script refused what was whole
		}
		return m, err
	}
	return m, nil
}

func (r *resources) export(ctx context.Context, dir string, a *runtime.Artifacts) (m *runtime.Manifest, err error) {
	x, err := stage.NewExtractor(dir, *a)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := x.Close(); err == nil {
			err = closed
		}
	}()
	left := r.player.script.ExportStops - 1 // negative: it does not stop
	for _, p := range a.Paths {
		if !path.IsAbs(p) {
			p = path.Join("/", r.plan.Request.Dir, p)
		}
		p = path.Clean(p)
		body, err := archive(p, r.player.script.Artifacts, &left)
		if err == nil {
			err = x.ExtractAs(ctx, r.placeOf(p), body)
		}
		if err != nil {
			f := runtime.AsFailure(err, runtime.Setup).At(runtime.StepExport)
			f.Message = "the artifact " + p + ": " + f.Message
			return x.Partial(), f
		}
	}
	return x.Finish()
}

// placeOf is where an artifact stands in the export.
func (r *resources) placeOf(p string) string {
	if w := r.plan.Request.Workspace; w != nil {
		if rest, ok := strings.CutPrefix(p, strings.TrimSuffix(w.Target, "/")+"/"); ok {
			return rest
		}
	}
	return strings.TrimPrefix(p, "/")
}

// archive packs the files at or below p as an engine's download does. It is cut off where left files were packed.
func archive(p string, files []Artifact, left *int) (*bytes.Buffer, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	top := path.Base(p)
	packed := 0
	for _, f := range files {
		rest, ok := strings.CutPrefix(f.Path, p)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		if packed == 0 && rest != "" {
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: top + "/", Mode: 0o755}); err != nil {
				return nil, err
			}
		}
		packed++
		if *left == 0 {
			return &buf, w.Flush() // without the end of an archive
		}
		*left--
		if err := pack(w, top+rest, f); err != nil {
			return nil, fmt.Errorf("packing the script's artifact %q: %w", f.Path, err)
		}
	}
	if packed == 0 {
		return nil, runtime.Fail(runtime.Setup, "it is not there: %w", fs.ErrNotExist).About("artifacts")
	}
	return &buf, w.Close()
}

func pack(w *tar.Writer, name string, f Artifact) error {
	mode := f.Mode
	if mode.Perm() == 0 {
		mode |= defaultFileMode
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(mode.Perm()), Size: int64(len(f.Data))}
	// The three bits beyond the permissions, by their numbers in an archive (tar(5)).
	for bit, number := range map[fs.FileMode]int64{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if mode&bit != 0 {
			h.Mode |= number
		}
	}
	switch {
	case mode&fs.ModeSymlink != 0:
		h.Typeflag, h.Linkname = tar.TypeSymlink, f.Link
	case mode.IsDir():
		h.Typeflag = tar.TypeDir
	case mode&fs.ModeNamedPipe != 0:
		h.Typeflag = tar.TypeFifo
	case mode&fs.ModeCharDevice != 0:
		h.Typeflag = tar.TypeChar
	case mode&fs.ModeDevice != 0:
		h.Typeflag = tar.TypeBlock
	}
	if h.Typeflag != tar.TypeReg {
		h.Size = 0
		return w.WriteHeader(h)
	}
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err := w.Write(f.Data)
	return err
}
