package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/sbxkit/sbxkit/runtime"
)

// Remove removes the run's container by force, then its volumes and network, and returns when their absence was seen. Idempotent, safe in
// every state and beside other removals. What carries another run's label is not touched.
func (r *resources) Remove(ctx context.Context) (*runtime.Teardown, error) {
	ctx, cancel := bounded(ctx, r.b.limit.remove, "the removal of the run")
	defer cancel()
	there, err := r.ours(ctx)
	if err != nil {
		return nil, runtime.AsFailure(err, runtime.Uncertain).At(runtime.StepRemove)
	}
	t := &runtime.Teardown{How: "nothing"}
	var failed []error
	var gone []string
	remove := func(what, name string, call func(context.Context, string) error, look func(context.Context, string) error, settle ...string) {
		was, err := removed(ctx, r.b.limit, name, call, look)
		if err != nil {
			failed = append(failed, fmt.Errorf("the %s %s: %w", what, name, err))
			t.Left = append(t.Left, runtime.Leftover{What: what, Name: name, Settle: r.b.command(r.link, append(settle, name)...)})
			return
		}
		if was {
			t.How = "removed"
			gone = append(gone, what+" "+name)
		}
	}
	for _, c := range r.containers() {
		call := r.link.remove // which need not tell whether it was there
		if !there[c] {
			call = r.link.missing
		}
		remove("container", c, call, r.link.missing, "rm", "--force", "--volumes")
	}
	if r.token.Unfinished {
		if err := r.fence(ctx); err != nil {
			failed = append(failed, err)
		}
	}
	for _, v := range r.token.Volumes {
		remove("volume", v, r.link.removeVolume, nil, "volume", "rm", "--force")
	}
	for _, n := range r.token.Networks {
		remove("network", n, r.link.removeNetwork, nil, "network", "rm")
	}
	r.mu.Lock()
	running := r.running
	r.mu.Unlock()
	if running != nil {
		running.close()
	}
	if len(failed) != 0 {
		return t, runtime.Fail(runtime.Uncertain, "not seen gone: %w", errors.Join(failed...)).At(runtime.StepRemove).WithLeft(t.Left...)
	}
	t.Confirmed = true
	t.Evidence = "the engine does not know " + r.token.Name
	if len(gone) != 0 {
		t.Evidence = "the engine no longer knows " + strings.Join(gone, ", ")
	}
	return t, nil
}

// containers lists the run's containers by name: its own, and the one its workspace was seeded through where there is a workspace.
func (r *resources) containers() []string {
	names := []string{r.token.Name}
	if slices.Contains(r.token.Volumes, r.token.Name+workspaceSuffix) {
		names = append(names, r.token.Name+seedSuffix)
	}
	return names
}

// ours reports which of the run's containers are there, and refuses to touch any of them where one carries another run's or owner's label.
func (r *resources) ours(ctx context.Context) (there map[string]bool, err error) {
	there = map[string]bool{}
	for _, name := range r.containers() {
		i, err := r.look(ctx, name)
		if cerrdefs.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, runtime.Fail(runtime.Uncertain, "looking at the container %s before its removal: %w", name, err).
				WithLeft(r.b.leftContainer(r.link, name))
		}
		there[name] = true
		if i.Config == nil {
			continue
		}
		run, owner := i.Config.Labels[labelRun], i.Config.Labels[labelOwner]
		if run != r.token.Run.ID || owner != r.token.Run.Owner {
			return nil, runtime.Fail(runtime.Denied, "the container %s carries the labels of run %q and owner %q: it is not this run's", name, run, owner)
		}
	}
	return there, nil
}

// removed calls until the engine says that name is not there, and reports whether it was. look asks for it without removing; nil repeats
// the call, whose answer to an absent name is the same. Whatever else the engine answers is tried again until ctx ends: 409 while another
// removal is in progress, 500 from Podman in states that pass.
func removed(ctx context.Context, limit deadlines, name string, call, look func(context.Context, string) error) (was bool, err error) {
	if look == nil {
		look = call
	}
	for pause := limit.poll; ; pause = min(2*pause, time.Second) {
		err := call(ctx, name)
		if !cerrdefs.IsNotFound(err) {
			was = true
		}
		// Also where the call itself says so: absence is what two questions agree on.
		seen := look(ctx, name)
		if cerrdefs.IsNotFound(seen) {
			return was, nil
		}
		if err == nil {
			err = seen
		}
		select {
		case <-ctx.Done():
			if err == nil {
				err = context.Cause(ctx)
			}
			return true, err
		case <-time.After(pause):
		}
	}
}

// removeContainer removes one container by name and sees it gone.
func (b *Backend) removeContainer(ctx context.Context, l link, name string) error {
	_, err := removed(ctx, b.limit, name, l.remove, l.missing)
	if err != nil {
		return runtime.Fail(runtime.Uncertain, "the container %s was not seen gone: %w", name, err).WithLeft(b.leftContainer(l, name))
	}
	return nil
}
