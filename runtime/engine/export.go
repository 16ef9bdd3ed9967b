package engine

import (
	"context"
	"io/fs"
	"path"
	"strings"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/stage"
)

// Export downloads the artifacts to dir, bounded. What is below the workspace stands in dir by its path from the workspace, everything else
// by its whole path. Works on a reopened run, as long as its container is there.
func (r *resources) Export(ctx context.Context, dir string, a *runtime.Artifacts) (*runtime.Manifest, error) {
	m, err := r.export(ctx, dir, a)
	if err != nil {
		return m, runtime.AsFailure(err, runtime.Setup).At(runtime.StepExport)
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
	for _, p := range a.Paths {
		if err := r.exportOne(ctx, x, p); err != nil {
			return x.Partial(), err
		}
	}
	return x.Finish()
}

func (r *resources) exportOne(ctx context.Context, x *stage.Extractor, p string) (err error) {
	at, err := r.link.stat(ctx, r.token.Name, p)
	switch {
	case cerrdefs.IsNotFound(err):
		return runtime.Fail(runtime.Setup, "the artifact %s is not in the container", p).About("artifacts").Because(err)
	case err != nil:
		return r.b.setup(r.link, err, "looking at the artifact %s", p)
	case at.Mode&fs.ModeSymlink != 0:
		// Docker's archive holds the link, Podman's what it leads to (measured): neither is what was declared.
		return runtime.Fail(runtime.Setup, "the artifact %s is a symbolic link", p).About("artifacts").
			WithCure("declare what it leads to")
	}
	body, err := r.link.download(ctx, r.token.Name, p)
	if err != nil {
		return r.b.setup(r.link, err, "downloading the artifact %s", p)
	}
	// The body may be closed already where ctx ended: only the first error counts.
	defer func() {
		if closed := body.Close(); err == nil {
			err = closed
		}
	}()
	if err := x.ExtractAs(ctx, r.placeOf(p), body); err != nil {
		f := runtime.AsFailure(err, runtime.Setup)
		f.Message = "the artifact " + p + ": " + f.Message
		return f
	}
	return nil
}

// placeOf is where an artifact stands in the export.
func (r *resources) placeOf(p string) string {
	if r.plan != nil && r.plan.Request.Workspace != nil {
		if t := r.plan.Request.Workspace.Target; below(p, t) && p != t {
			return relative(t, p)
		}
	}
	return strings.TrimPrefix(path.Clean(p), "/")
}
