package script

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// defaultFileMode is the permission of an artifact whose script names none.
const defaultFileMode fs.FileMode = 0o644

// Export writes those of the script's artifacts that stand at or below a declared path to dir, within the bounds. A path relative to
// the command's working directory is kept as it is; an absolute one loses its first slash. What stops it early leaves a manifest that is
// not whole, and a Failure.
func (r *resources) Export(ctx context.Context, dir string, a *runtime.Artifacts) (*runtime.Manifest, error) {
	m := &runtime.Manifest{}
	err := r.b.call(ctx, r.player, r.run(), OnExport, "", func() error {
		if err := r.reopened(runtime.StepExport); err != nil {
			return err
		}
		return r.export(ctx, dir, a, m)
	})
	m.Whole = err == nil
	m.Digest = runtime.DigestManifest(m.Files)
	if err != nil {
		return m, err
	}
	return m, nil
}

func (r *resources) export(ctx context.Context, dir string, a *runtime.Artifacts, m *runtime.Manifest) error {
	fail := func(format string, args ...any) error {
		return runtime.Fail(runtime.Setup, format, args...).About("artifacts").At(runtime.StepExport)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fail("opening the place of the export: %w", err)
	}
	defer root.Close()
	s := r.player.script
	for _, declared := range a.Paths {
		there := false
		for _, f := range s.Artifacts {
			name, ok := below(r.plan.Request.Dir, declared, f.Path)
			if !ok {
				continue
			}
			there = true
			if s.ExportStops > 0 && len(m.Files) >= s.ExportStops-1 {
				return fail("the export stopped before %q", name)
			}
			if err := ctx.Err(); err != nil {
				return fail("exporting %q: %w", name, context.Cause(ctx))
			}
			if err := fits(name, f, a, m); err != nil {
				return err
			}
			e, err := put(root, name, f)
			if err != nil {
				return fail("exporting %q: %w", name, err)
			}
			m.Files = append(m.Files, e)
			m.Bytes += e.Size
		}
		if !there {
			return fail("the declared artifact %q is not there: %w", declared, fs.ErrNotExist)
		}
	}
	return nil
}

// below gives the name in the export of a file inside, where that stands at or below the declared path.
func below(dir, declared, file string) (string, bool) {
	base := declared
	if !path.IsAbs(base) {
		base = path.Join("/", dir, declared)
	}
	rest, ok := strings.CutPrefix(file, strings.TrimSuffix(path.Clean(base), "/"))
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimPrefix(declared+rest, "/"), true
}

// fits says whether one more file keeps the bounds.
func fits(name string, f Artifact, a *runtime.Artifacts, m *runtime.Manifest) error {
	over := func(what string, bound int64) error {
		return runtime.Fail(runtime.Setup, "the export has more than %d %s, at %q", bound, what, name).About("artifacts").At(runtime.StepExport).
			WithCure("raise the launch's or the policy's bound on artifacts")
	}
	switch {
	case a.Files > 0 && int64(len(m.Files)) >= a.Files:
		return over("files", a.Files)
	case a.Bytes > 0 && m.Bytes+int64(len(f.Data)) > a.Bytes:
		return over("bytes", a.Bytes)
	case a.Depth > 0 && strings.Count(name, "/")+1 > a.Depth:
		return over("levels", int64(a.Depth))
	}
	return nil
}

// put writes one artifact below root, and refuses what an import must never see.
func put(root *os.Root, name string, f Artifact) (runtime.ManifestEntry, error) {
	mode := f.Mode
	if mode.Perm() == 0 {
		mode |= defaultFileMode
	}
	e := runtime.ManifestEntry{Path: name, Mode: uint32(mode.Perm())}
	if !fs.ValidPath(name) {
		return e, fmt.Errorf("the path leaves the export: %w", fs.ErrInvalid)
	}
	if mode&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeDevice|fs.ModeCharDevice|fs.ModeNamedPipe|fs.ModeSocket) != 0 {
		return e, fmt.Errorf("%v is not exported: %w", mode, fs.ErrInvalid)
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return e, err
	}
	switch {
	case mode&fs.ModeSymlink != 0:
		if path.IsAbs(f.Link) || !fs.ValidPath(path.Join(path.Dir(name), f.Link)) {
			return e, fmt.Errorf("the link to %q leaves the export: %w", f.Link, fs.ErrInvalid)
		}
		e.Link = f.Link
		return e, root.Symlink(f.Link, name)
	case mode.IsDir():
		return e, root.MkdirAll(name, mode.Perm())
	}
	sum := sha256.Sum256(f.Data)
	e.Size, e.Digest = int64(len(f.Data)), "sha256:"+hex.EncodeToString(sum[:])
	w, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode.Perm())
	if err != nil {
		return e, err
	}
	if _, err := w.Write(f.Data); err != nil {
		w.Close()
		return e, err
	}
	return e, w.Close()
}
