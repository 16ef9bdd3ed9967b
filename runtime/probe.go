package runtime

import (
	"context"
	"errors"
	"strings"
)

// Probe is step 1 alone: it proves that the backend works here and says who it is. In mode Disabled it probes the unsandboxed backend.
// It is what doctor prints; a launch does it by itself.
func (s *Sandbox) Probe(ctx context.Context) (*Identity, error) {
	if s.mode == Disabled {
		return s.probeOne(ctx, s.unsandboxed, nil)
	}
	return s.probeOne(ctx, s.backend, nil)
}

// probeOne probes for a launch, or for none.
func (s *Sandbox) probeOne(ctx context.Context, b Backend, l *Launch) (*Identity, error) {
	r := ProbeRequest{Lookup: s.lookup}
	if l != nil {
		r.For, r.Shows = l.Image.Ref, l.Workspace != nil || len(l.Mounts) != 0 || l.Network.Socket != ""
	}
	id, err := b.Probe(ctx, r)
	if err != nil {
		return nil, s.failed(b, nil, StepProbe, err)
	}
	return id, nil
}

func (s *Sandbox) lookup(name string) (string, bool) {
	for _, e := range s.environ() {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// choice is the backend a launch uses, and why where that is the unsandboxed one.
type choice struct {
	backend  Backend
	identity *Identity
	// unsandboxed says by which mode and on which ground no sandbox is used; empty otherwise.
	unsandboxed string
}

// choose is the one place where a launch can come to the unsandboxed backend.
func (s *Sandbox) choose(ctx context.Context, l *Launch) (choice, error) {
	if s.mode == Disabled {
		id, err := s.probeOne(ctx, s.unsandboxed, l)
		return choice{s.unsandboxed, id, "mode disabled"}, err
	}
	id, err := s.probeOne(ctx, s.backend, l)
	if err == nil {
		return choice{backend: s.backend, identity: id}, nil
	}
	if s.mode == Preferred && s.unsandboxed != nil && errors.Is(err, ErrUnsupported) {
		id, err2 := s.probeOne(ctx, s.unsandboxed, l)
		return choice{s.unsandboxed, id, "mode preferred: " + err.Error()}, err2
	}
	return choice{backend: s.backend}, err
}

// failed makes any error a Failure that says its step, backend and whether the launch was charged.
func (s *Sandbox) failed(b Backend, id *Identity, step Step, err error) *Failure {
	kind := Setup
	if step == StepRemove || step == StepCapture || step == StepReconcile {
		kind = Uncertain
	}
	f := *AsFailure(err, kind)
	f.At(step)
	if f.Backend == "" {
		f.Backend = b.Describe().Name
		if id != nil && id.Engine != "" {
			f.Backend = id.String()
		}
	}
	return &f
}
