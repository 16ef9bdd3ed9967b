package script

import (
	"context"
	"fmt"
	"slices"

	"github.com/sbxkit/sbxkit/runtime"
)

// Plan builds the argv, the token and the claims of a request. It is pure but for the faults of the script, which it counts.
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
	p := runtime.NewPlan(b.def.Description.Name, req, b.def.Argv(req), b.def.Explain(req))
	p.Identity, p.Image, p.Dropped = in.Identity, in.Image, in.Dropped
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
	return list
}
