package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/sbxtest"
	"github.com/sbxkit/sbxkit/runtime/stage"
)

// checksOf names the checks of the groups; none at all is every check.
func checksOf(groups []string) (checks []string, err error) {
	var all []string
	for _, c := range sbxtest.Checks() {
		if !slices.Contains(all, c.Group) {
			all = append(all, c.Group)
		}
		if slices.Contains(groups, c.Group) {
			checks = append(checks, c.Name)
		}
	}
	for _, g := range groups {
		if !slices.Contains(all, g) {
			return nil, usageError{fmt.Errorf("no group of checks is called %q: use one of %s", g, strings.Join(all, ", "))}
		}
	}
	return checks, nil
}

// conformance holds the named backends to those checks of the seam's contract, or to all of them where there are none, and prints what holds. Its exit code is 125 where a check failed or the one
// backend that was asked for does not work here.
func conformance(ctx context.Context, s streams, names []string, image string, checks []string, asJSON bool) error {
	var reports []*sbxtest.Report
	failed := false
	for _, name := range names {
		rep, err := conform(ctx, name, image, checks)
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
func conform(ctx context.Context, name, image string, checks []string) (*sbxtest.Report, error) {
	b, err := newBackend(name)
	if err != nil {
		return nil, err
	}
	if image == "" && b.Describe().Kind == "engine" {
		image = os.Getenv("SBX_SANDBOX_IMAGE")
	}
	rep := sbxtest.CheckBackend(ctx, func(context.Context) (*sbxtest.Subject, error) {
		return &sbxtest.Subject{Backend: b, Image: image, Stager: stage.New()}, nil
	}, sbxtest.Options{Parallel: 4, Only: checks})
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
