package engine

import (
	"crypto/rand"
	"strings"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// The ownership labels, under the reserved prefix. Owner and run decide whose a resource is; the rest is for a person who looks.
const (
	labelOwner   = runtime.LabelPrefix + "owner"
	labelRun     = runtime.LabelPrefix + "run"
	labelStep    = runtime.LabelPrefix + "step"
	labelPlan    = runtime.LabelPrefix + "plan"
	labelBoot    = runtime.LabelPrefix + "boot"
	labelCreated = runtime.LabelPrefix + "created"
)

// ownership gives the labels every resource of a run carries.
func ownership(p *runtime.Plan, now time.Time) map[string]string {
	labels := map[string]string{
		labelRun:     p.Request.Run.ID,
		labelStep:    string(runtime.StepPrepare),
		labelPlan:    p.Digest(),
		labelCreated: now.UTC().Format(time.RFC3339),
	}
	if o := p.Request.Run.Owner; o != "" {
		labels[labelOwner] = o
	}
	if id := runtime.BootID(); id != "" {
		labels[labelBoot] = id
	}
	return labels
}

// newProbeName is the name of a container that no run owns; it is never used twice.
func newProbeName() string { return "sbx-probe-" + strings.ToLower(rand.Text()) }
