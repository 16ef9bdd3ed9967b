package script

import (
	"context"
	"fmt"
	"slices"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/mounts"
)

// Plan orders the mounts and builds the argv, the token and the claims of a request. It is pure but for the faults of the script, which it counts.
func (b *Backend) Plan(in runtime.PlanInput) (*runtime.Plan, error) {
	var plan *runtime.Plan
	err := b.call(context.Background(), b.ahead(), in.Request.Run.ID, OnPlan, "", func() (err error) {
		plan, err = b.plan(in)
		return err
	})
	if err != nil {
		return nil, err
	}
	if plan == nil {
		return nil, runtime.Fail(runtime.Setup, "the script lost the plan").At(runtime.StepPlan)
	}
	return plan, nil
}

func (b *Backend) plan(in runtime.PlanInput) (*runtime.Plan, error) {
	req := in.Request
	for _, a := range in.Identity.Absent {
		if slices.Contains(req.Asked, a.Feature) {
			return nil, runtime.Fail(runtime.Unsupported, "%s: %s", a.Feature, a.Why).About(a.Feature).At(runtime.StepPlan).WithCure("%s", a.Cure)
		}
	}
	r := *req
	req = &r
	planned, err := b.mounts(in)
	if err != nil {
		return nil, err
	}
	req.Mounts = planned.Mounts
	p := runtime.NewPlan(b.def.Description.Name, req, b.def.Argv(req), b.def.Explain(req))
	p.Identity, p.Image, p.Dropped = in.Identity, in.Image, append(slices.Clone(in.Dropped), planned.Dropped...)
	p.Environment = req.Env
	p.Claims = claims(req)
	p.Token = token(b.def.Description.Name, in.Identity, req)
	p.Steps = []runtime.PlannedStep{
		{Step: runtime.StepPrepare, Does: "make the container " + p.Token.Name + " in the scripted world"},
		{Step: runtime.StepStage, Does: "record what is staged"},
		{Step: runtime.StepStart, Does: "play the script"},
		{Step: runtime.StepExport, Does: "write the script's artifacts"},
		{Step: runtime.StepRemove, Does: "take the container out of the scripted world"},
	}
	return p, nil
}

// mounts orders and checks the mounts as for an engine, so that what a real backend would refuse is refused here.
func (b *Backend) mounts(in runtime.PlanInput) (*mounts.Result, error) {
	d := b.def.Description
	sockets := make([]mounts.Socket, 0, len(d.Policy.Sockets))
	for _, s := range d.Policy.Sockets {
		sockets = append(sockets, mounts.Socket{Path: s})
	}
	return mounts.Plan(mounts.Input{Mounts: in.Request.Mounts, Host: in.Host, Sockets: sockets, Tool: mounts.Tool{Name: d.Name, Image: true}})
}

// token names the container, and a volume for each one that lives as long as the run.
func token(backend string, id runtime.Identity, req *runtime.Request) runtime.Token {
	t := runtime.Token{Backend: backend, Run: req.Run, Name: req.Run.Name(), Endpoint: id.Endpoint}
	if w := req.Workspace; w != nil && w.Mode == runtime.WorkspaceVolume {
		t.Volumes = append(t.Volumes, t.Name+"-workspace")
	}
	for n, m := range req.Mounts {
		if m.Kind == runtime.MountVolume && (m.Scope == "" || m.Scope == runtime.VolumeRun) {
			t.Volumes = append(t.Volumes, fmt.Sprintf("%s-%d", t.Name, n))
		}
	}
	return t
}

// claims lists what the request must have, for the script to answer.
func claims(req *runtime.Request) []runtime.Claim {
	list := []runtime.Claim{{Name: "environment", Value: fmt.Sprintf("these %d variables and no other", len(req.Env)), Required: true}}
	if req.Network.Mode != "" {
		list = append(list, runtime.Claim{Name: "network." + string(req.Network.Mode), Value: "the network is " + string(req.Network.Mode), Required: true})
	}
	for _, name := range req.Required {
		list = append(list, runtime.Claim{Name: name, Value: "as the policy requires", Required: true})
	}
	for _, name := range runtime.LimitNames() {
		if l := req.Limits.Get(name); l != nil && name != "limits.output" {
			list = append(list, runtime.Claim{Name: name, Value: fmt.Sprintf("soft %d, hard %d", l.Soft, l.Hard), Required: true})
		}
	}
	return list
}
