// Package sbxslog writes the events of a Sandbox's runs to a log/slog logger.
package sbxslog

import (
	"context"
	"log/slog"

	"github.com/sbxkit/sbxkit/runtime"
)

// New gives an observer that logs one record for each event: the begin of a step at Debug, its end at Info, a refusal or failure at Warn,
// what is uncertain at Error, and the end of a run at Info. It is safe for concurrent use if the handler is.
func New(l *slog.Logger) runtime.Observer { return observer{l} }

type observer struct{ l *slog.Logger }

// Event logs e.
func (o observer) Event(e runtime.Event) {
	level, message := slog.LevelInfo, "sandbox step done"
	attrs := []slog.Attr{slog.String("run", e.RunID), slog.String("backend", e.Backend), slog.String("step", string(e.Step))}
	switch {
	case e.Result != nil:
		message = "sandbox run ended"
		attrs = append(attrs, slog.String("outcome", string(e.Result.Outcome)), slog.Int("code", e.Result.Code), slog.Duration("wall", e.Result.Usage.Wall))
	case e.State == "":
		level, message = slog.LevelDebug, "sandbox step begins"
	case e.State == runtime.StateUncertain:
		level, message = slog.LevelError, "sandbox step uncertain"
	case e.State == runtime.StateFailed || e.State == runtime.StateRefused:
		level, message = slog.LevelWarn, "sandbox step "+e.State
	}
	if e.State != "" && e.Result == nil {
		attrs = append(attrs, slog.String("state", e.State), slog.Duration("duration", e.Duration))
	}
	if e.PlanDigest != "" {
		attrs = append(attrs, slog.String("plan", e.PlanDigest))
	}
	if e.Note != "" && e.Failure == nil && e.Result == nil {
		attrs = append(attrs, slog.String("note", e.Note))
	}
	if f := e.Failure; f != nil {
		attrs = append(attrs, slog.String("kind", string(f.Kind)), slog.String("error", f.Error()))
	}
	o.l.LogAttrs(context.Background(), level, message, attrs...)
}
