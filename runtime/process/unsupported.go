//go:build !linux

package process

import (
	"context"
	goruntime "runtime"

	"github.com/sbxkit/sbxkit/runtime"
)

func (b *Backend) elsewhere(step runtime.Step) *runtime.Failure {
	return runtime.Fail(runtime.Unsupported, "%s runs on Linux only; this is %s", b.def.Description.Name, goruntime.GOOS).At(step)
}

// Probe is Unsupported here.
func (b *Backend) Probe(context.Context, runtime.ProbeRequest) (*runtime.Identity, error) {
	return nil, b.elsewhere(runtime.StepProbe)
}

// Plan is Unsupported here.
func (b *Backend) Plan(runtime.PlanInput) (*runtime.Plan, error) {
	return nil, b.elsewhere(runtime.StepPlan)
}

// Prepare is Unsupported here.
func (b *Backend) Prepare(context.Context, *runtime.Plan) (runtime.Resources, error) {
	return nil, b.elsewhere(runtime.StepPrepare)
}

// Reopen is Unsupported here.
func (b *Backend) Reopen(context.Context, runtime.Token) (runtime.Resources, error) {
	return nil, b.elsewhere(runtime.StepReconcile)
}
