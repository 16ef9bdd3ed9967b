package runtime

import (
	"path"
	"slices"
	"strings"
)

func (r *resolver) artifacts(a Artifacts) error {
	p := r.p.Artifacts
	for _, b := range []struct {
		name      string
		v, policy *int64
	}{{"bytes", &a.Bytes, &p.Bytes}, {"files", &a.Files, &p.Files}} {
		if *b.v == 0 {
			*b.v = *b.policy
		}
		if *b.policy > 0 && *b.v > *b.policy {
			return denied("artifacts", "artifacts of %d %s are above the policy's %d", *b.v, b.name, *b.policy)
		}
	}
	if a.Depth == 0 {
		a.Depth = p.Depth
	}
	if a.Timeout == 0 {
		a.Timeout = p.Timeout
	}
	a.Paths = slices.Clone(a.Paths)
	for i, q := range a.Paths {
		if !path.IsAbs(q) {
			q = path.Join(cmpOr(r.req.Dir, "/"), q)
		}
		if q = path.Clean(q); q == "/" || strings.IndexByte(q, 0) >= 0 {
			return denied("artifacts", "%q is not a path an artifact can have", a.Paths[i])
		}
		a.Paths[i] = q
	}
	r.ask("artifacts")
	r.req.Artifacts = &a
	return nil
}
