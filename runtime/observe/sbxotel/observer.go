// Package sbxotel turns the events of a Sandbox's runs into OpenTelemetry traces and metrics: a span for each run with a span for each step
// below it, a histogram of step durations and a counter of outcomes. It is a package of its own so that the seam does not depend on
// OpenTelemetry.
package sbxotel

import (
	"context"
	"fmt"
	"sync"

	"github.com/sbxkit/sbxkit/runtime"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// New gives an observer over a tracer and a meter. Names: spans sbx.run and sbx.step.<step>; instruments sbx.step.duration (seconds) and
// sbx.run.outcomes. Attributes: sbx.run, sbx.backend, sbx.step, sbx.state, sbx.outcome, sbx.kind, sbx.plan. It is safe for concurrent use.
func New(t trace.Tracer, m metric.Meter) (runtime.Observer, error) {
	d, err := m.Float64Histogram("sbx.step.duration", metric.WithUnit("s"), metric.WithDescription("How long a lifecycle step took."))
	if err != nil {
		return nil, fmt.Errorf("making the instrument sbx.step.duration: %w", err)
	}
	c, err := m.Int64Counter("sbx.run.outcomes", metric.WithDescription("Runs by how they ended."))
	if err != nil {
		return nil, fmt.Errorf("making the instrument sbx.run.outcomes: %w", err)
	}
	return &observer{tracer: t, duration: d, outcomes: c, runs: map[string]*spans{}}, nil
}

type observer struct {
	tracer   trace.Tracer
	duration metric.Float64Histogram
	outcomes metric.Int64Counter

	mu   sync.Mutex
	runs map[string]*spans
}

// spans are the open spans of one run. Steps nest: a launch that is refused is removed inside no other step, but events of one run come in
// order, so that a stack suffices.
type spans struct {
	ctx  context.Context
	run  trace.Span
	open []trace.Span
}

// Event opens or closes a span.
func (o *observer) Event(e runtime.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.runs[e.RunID]
	if r == nil {
		r = &spans{}
		r.ctx, r.run = o.tracer.Start(context.Background(), "sbx.run", trace.WithTimestamp(e.Time),
			trace.WithAttributes(attribute.String("sbx.run", e.RunID), attribute.String("sbx.backend", e.Backend)))
		o.runs[e.RunID] = r
	}
	backend := attribute.String("sbx.backend", e.Backend)
	switch {
	case e.Result != nil:
		outcome := attribute.String("sbx.outcome", string(e.Result.Outcome))
		o.outcomes.Add(r.ctx, 1, metric.WithAttributes(backend, outcome))
		r.run.SetAttributes(outcome, attribute.String("sbx.plan", e.PlanDigest), attribute.Int("sbx.code", e.Result.Code))
		if f := e.Result.Failure; f != nil {
			r.run.SetStatus(codes.Error, f.Error())
		}
		r.run.End(trace.WithTimestamp(e.Time))
		delete(o.runs, e.RunID)
	case e.State == "":
		_, s := o.tracer.Start(r.ctx, "sbx.step."+string(e.Step), trace.WithTimestamp(e.Time), trace.WithAttributes(backend, attribute.String("sbx.step", string(e.Step))))
		r.open = append(r.open, s)
	default:
		o.duration.Record(r.ctx, e.Duration.Seconds(), metric.WithAttributes(backend, attribute.String("sbx.step", string(e.Step)), attribute.String("sbx.state", e.State)))
		if len(r.open) == 0 {
			return
		}
		s := r.open[len(r.open)-1]
		r.open = r.open[:len(r.open)-1]
		s.SetAttributes(attribute.String("sbx.state", e.State))
		if e.Failure != nil {
			s.SetAttributes(attribute.String("sbx.kind", string(e.Failure.Kind)))
			s.SetStatus(codes.Error, e.Failure.Error())
		}
		s.End(trace.WithTimestamp(e.Time))
	}
}
