package sbxotel_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/observe/sbxotel"
	"go.opentelemetry.io/otel/attribute"
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
	event(runtime.Event{Step: runtime.StepRemove, State: runtime.StateDone, PlanDigest: "sha256:1", Result: &runtime.Result{Outcome: runtime.NeverRan, Failure: failure}})

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
	for _, s := range spans.Ended() {
		have := attribute.NewSet(s.Attributes()...)
		var want []attribute.KeyValue
		switch s.Name() {
		case "sbx.run":
			want = []attribute.KeyValue{attribute.String("sbx.run", "r1"), attribute.String("sbx.backend", "bwrap"), attribute.String("sbx.outcome", "never-ran"),
				attribute.String("sbx.plan", "sha256:1"), attribute.Int("sbx.code", 0)}
			if s.Status() != (sdktrace.Status{Code: codes.Error, Description: failure.Error()}) {
				t.Errorf("the run's status is %+v", s.Status())
			}
		case "sbx.step.probe":
			want = []attribute.KeyValue{attribute.String("sbx.backend", "bwrap"), attribute.String("sbx.step", "probe"), attribute.String("sbx.state", "done")}
		case "sbx.step.start":
			want = []attribute.KeyValue{attribute.String("sbx.backend", "bwrap"), attribute.String("sbx.step", "start"), attribute.String("sbx.state", "failed"),
				attribute.String("sbx.kind", "setup")}
		}
		if set := attribute.NewSet(want...); !have.Equals(&set) {
			t.Errorf("%s has %v, want %v", s.Name(), s.Attributes(), want)
		}
	}
	var data metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &data); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range data.ScopeMetrics {
		for _, m := range s.Metrics {
			got = append(got, m.Name)
			switch d := m.Data.(type) {
			case metricdata.Histogram[float64]:
				sums := map[string]float64{}
				for _, p := range d.DataPoints {
					sums[p.Attributes.Encoded(attribute.DefaultEncoder())] = p.Sum
				}
				// The removal's end comes with the result, and is no step's here.
				if want := map[string]float64{"sbx.backend=bwrap,sbx.state=done,sbx.step=probe": 1, "sbx.backend=bwrap,sbx.state=failed,sbx.step=start": 2}; !maps.Equal(sums, want) || m.Unit != "s" {
					t.Errorf("%s: %v %s, want %v", m.Name, sums, m.Unit, want)
				}
			case metricdata.Sum[int64]:
				if len(d.DataPoints) != 1 || d.DataPoints[0].Value != 1 || d.DataPoints[0].Attributes.Encoded(attribute.DefaultEncoder()) != "sbx.backend=bwrap,sbx.outcome=never-ran" {
					t.Errorf("%s: %+v", m.Name, d.DataPoints)
				}
			default:
				t.Errorf("%s is a %T", m.Name, d)
			}
		}
	}
	slices.Sort(got)
	if strings.Join(got, " ") != "sbx.run.outcomes sbx.step.duration" {
		t.Errorf("instruments %v", got)
	}
}
