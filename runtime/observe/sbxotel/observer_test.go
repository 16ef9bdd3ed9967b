package sbxotel_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/observe/sbxotel"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

func TestARunBecomesASpanWithItsStepsAndMetrics(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	tp := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
	reader := sdkmetric.NewManualReader()
	mp := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	o, err := sbxotel.New(tp.Tracer("test"), mp.Meter("test"))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1000, 0)
	event := func(e runtime.Event) {
		at = at.Add(time.Second)
		e.Time, e.RunID, e.Backend = at, "r1", "bwrap"
		o.Event(e)
	}
	failure := &runtime.Failure{Kind: runtime.Setup, Step: runtime.StepStart, Message: "no"}
	event(runtime.Event{Step: runtime.StepProbe})
	event(runtime.Event{Step: runtime.StepProbe, State: runtime.StateDone, Duration: time.Second})
	event(runtime.Event{Step: runtime.StepStart})
	event(runtime.Event{Step: runtime.StepStart, State: runtime.StateFailed, Duration: 2 * time.Second, Failure: failure})
	event(runtime.Event{Step: runtime.StepRemove, State: runtime.StateDone, Result: &runtime.Result{Outcome: runtime.NeverRan, Failure: failure}})

	var names []string
	for _, s := range spans.Ended() {
		names = append(names, s.Name())
		if s.Name() == "sbx.step.start" && s.Status().Code != codes.Error {
			t.Error("a failed step's span is not an error")
		}
		if s.Name() == "sbx.step.probe" && s.EndTime().Sub(s.StartTime()) != time.Second {
			t.Errorf("the probe's span takes %v", s.EndTime().Sub(s.StartTime()))
		}
		if s.Name() != "sbx.run" && !s.Parent().IsValid() {
			t.Errorf("%s has no parent", s.Name())
		}
	}
	if want := []string{"sbx.step.probe", "sbx.step.start", "sbx.run"}; !slices.Equal(names, want) {
		t.Errorf("spans %v, want %v", names, want)
	}
	var data metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &data); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range data.ScopeMetrics {
		for _, m := range s.Metrics {
			got = append(got, m.Name)
		}
	}
	slices.Sort(got)
	if strings.Join(got, " ") != "sbx.run.outcomes sbx.step.duration" {
		t.Errorf("instruments %v", got)
	}
}
