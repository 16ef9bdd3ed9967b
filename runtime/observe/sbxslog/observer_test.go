package sbxslog_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/observe/sbxslog"
)

func TestEventsBecomeRecords(t *testing.T) {
	var b bytes.Buffer
	o := sbxslog.New(slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})))
	f := &runtime.Failure{Kind: runtime.Denied, Step: runtime.StepPlan, Backend: "bwrap", Message: "no"}
	u := &runtime.Failure{Kind: runtime.Uncertain, Step: runtime.StepRemove, Backend: "bwrap", Message: "who knows"}
	for _, e := range []runtime.Event{
		{Step: runtime.StepPlan},
		{Step: runtime.StepPlan, State: runtime.StateDone, Note: "sha256:1", Duration: time.Second, PlanDigest: "sha256:1"},
		{Step: runtime.StepPlan, State: runtime.StateRefused, Failure: f},
		{Step: runtime.StepRemove, State: runtime.StateUncertain, Failure: u},
		{Step: runtime.StepRemove, Result: &runtime.Result{Outcome: runtime.Exited, Code: 3}},
	} {
		e.RunID, e.Backend = "r1", "bwrap"
		o.Event(e)
	}
	want := `level=DEBUG msg="sandbox step begins" run=r1 backend=bwrap step=plan
level=INFO msg="sandbox step done" run=r1 backend=bwrap step=plan state=done duration=1s plan=sha256:1 note=sha256:1
level=WARN msg="sandbox step refused" run=r1 backend=bwrap step=plan state=refused duration=0s kind=denied error="bwrap: plan: denied: no"
level=ERROR msg="sandbox step uncertain" run=r1 backend=bwrap step=remove state=uncertain duration=0s kind=uncertain error="bwrap: remove: uncertain: who knows"
level=INFO msg="sandbox run ended" run=r1 backend=bwrap step=remove outcome=exited code=3 wall=0s
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, strings.TrimSpace(want))
	}
}
