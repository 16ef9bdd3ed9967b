package main

import (
	"context"
	"encoding/json"
	"os"

	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/sbxtest"
	"github.com/sbxkit/sbxkit/runtime/stage"
)

// conformance holds the named backends to the seam's contract and prints what holds. Its exit code is 125 where a check failed or the one
// backend that was asked for does not work here.
func conformance(ctx context.Context, s streams, names []string, image string, asJSON bool) error {
	var reports []*sbxtest.Report
	failed := false
	for _, name := range names {
		rep, err := conform(ctx, name, image)
		if err != nil {
			return err
		}
		rep.Backend = name
		reports = append(reports, rep)
		failed = failed || rep.Count(sbxtest.Failed) > 0 || rep.Failure != nil && len(names) == 1
	}
	if err := printConformance(s, reports, asJSON); err != nil {
		return err
	}
	if failed {
		return exitError{125}
	}
	return ctx.Err()
}

// conform runs the suite on one backend, which its checks share: each probes it, and a probe is a launch of its own.
func conform(ctx context.Context, name, image string) (*sbxtest.Report, error) {
	b, err := newBackend(name)
	if err != nil {
		return nil, err
	}
	if image == "" && b.Describe().Kind == "engine" {
		image = os.Getenv("SBX_SANDBOX_IMAGE")
	}
	rep := sbxtest.CheckBackend(ctx, func(context.Context) (*sbxtest.Subject, error) {
		return &sbxtest.Subject{Backend: b, Image: image, Stager: stage.New()}, nil
	}, sbxtest.Options{Parallel: 4})
	if c, ok := b.(sbx.Closer); ok {
		if err := c.Close(); err != nil {
			return nil, err
		}
	}
	return rep, nil
}

func printConformance(s streams, reports []*sbxtest.Report, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		return e.Encode(reports)
	}
	return sbxtest.WriteTable(s.out, reports...)
}
