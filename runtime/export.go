package runtime

import (
	"context"
	"time"
)

// Candidate is what a run hands to its Controller.
type Candidate struct {
	RunID      string
	PlanDigest string
	// Dir holds the exported artifacts, or is the worktree itself where Worktree is true (process backends export nothing).
	Dir      string
	Worktree bool
	// Manifest lists the export, with a digest of every file; nil for a worktree.
	Manifest *Manifest
	// Outcome and Code say how the command ended; whether a failed command's output is worth importing is the controller's to say.
	Outcome Outcome
	Code    int
	Labels  map[string]string
}

// exportTime bounds an export that has no bound of its own.
const exportTime = 5 * time.Minute

// export is step 6: the candidate is handed to the controller-owned place. A partial export is a failure and never a candidate.
func (r *Run) export(ctx context.Context, res *Result) (c *Candidate, state, note string, err error) {
	req := r.plan.Request
	c = &Candidate{RunID: r.name.ID, PlanDigest: r.planDigest(), Outcome: res.Outcome, Code: res.Code, Labels: map[string]string{}}
	for _, l := range req.Labels {
		c.Labels[l.Name] = l.Value
	}
	if !r.backend.Describe().Exports {
		if req.Workspace == nil || req.Workspace.Mode == WorkspaceBindRO {
			return nil, StateNothing, "no writable workspace, so no candidate", nil
		}
		c.Worktree, c.Dir = true, req.Workspace.Source
		if req.Workspace.Mode == WorkspaceCopy {
			c.Dir = req.Run.Dir + "/workspace"
		}
		return c, StateNothing, "the candidate is the worktree itself", nil
	}
	if req.Artifacts == nil {
		return nil, StateNothing, "no artifacts were declared", nil
	}
	bound := req.Artifacts.Timeout
	if bound <= 0 {
		bound = exportTime
	}
	ctx, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	if c.Dir, err = r.s.controller.ExportDir(ctx, r.plan); err != nil {
		return nil, "", "", Fail(Setup, "the controller gave no place to export to: %w", err)
	}
	if c.Manifest, err = r.res.Export(ctx, c.Dir, req.Artifacts); err != nil {
		return nil, "", "", err
	}
	if !c.Manifest.Whole {
		return nil, "", "", Fail(Setup, "the export is not whole, so it is no candidate")
	}
	return c, StateDone, c.Manifest.Digest, nil
}
