package runtime

import (
	"context"
	"os"
	"path"
)

// Stager copies a workspace's source; implemented by runtime/stage.
type Stager interface {
	// Snapshot copies w.Source, or the tree w.Treeish of the repository there, to dir, which does not exist yet. It is bounded by
	// w.Files and w.Bytes, refuses links that leave the tree, never copies a repository's own state, and on error leaves nothing at dir.
	// ctx cancels it. note says what was copied.
	Snapshot(ctx context.Context, w Workspace, dir string) (note string, err error)
}

// stage is step 3: the workspace's snapshot, the script and the credentials are put in place.
func (r *Run) stage(ctx context.Context) (state, note string, err error) {
	req := r.plan.Request
	st := &Stage{Workspace: req.Workspace, Script: req.Script, Credentials: req.Credentials}
	if w := req.Workspace; w != nil && (w.Mode == WorkspaceCopy || w.Mode == WorkspaceVolume) {
		place := req.Run.Dir
		if place == "" {
			// Without a journal the run has no directory; what is uploaded from here is not needed after it.
			if place, err = os.MkdirTemp("", "sbx-"); err != nil {
				return "", "", Fail(Setup, "making a place for the copy of the workspace: %w", err)
			}
			defer func() {
				if gone := os.RemoveAll(place); err == nil && gone != nil {
					err = Fail(Setup, "removing the copy of the workspace: %w", gone)
				}
			}()
		}
		dir := path.Join(place, "workspace")
		if note, err = r.s.stager.Snapshot(ctx, *w, dir); err != nil {
			return "", "", err
		}
		st.Snapshot = dir
	}
	more, err := r.res.Stage(ctx, st)
	if err != nil {
		return "", "", err
	}
	if st.Snapshot == "" && st.Script == nil && len(st.Credentials) == 0 {
		return StateNothing, "no workspace copy, script or credential to put in place", nil
	}
	if note != "" && more != "" {
		note += "; "
	}
	note += more
	return StateDone, note, nil
}
