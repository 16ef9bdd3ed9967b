package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/sbxkit/sbxkit/analyzers/driver"
	"github.com/sbxkit/sbxkit/analyzers/findings"
	"github.com/sbxkit/sbxkit/analyzers/policy"
)

// analyse runs the rules over packages and reports.
func analyse(ctx context.Context, f *flags, patterns []string) (int, error) {
	if f.json && f.sarif {
		return exitUnknown, errors.New("-json and -sarif cannot be used together")
	}
	if f.baseline != "" && f.writeBaseline != "" {
		return exitUnknown, errors.New("-baseline and -write-baseline cannot be used together")
	}
	dir, err := os.Getwd()
	if err != nil {
		return exitUnknown, fmt.Errorf("finding the working directory: %w", err)
	}
	self, err := driver.Self()
	if err != nil {
		return exitUnknown, err
	}
	// A broken policy is found here, once, and not by each unit.
	file, err := policyFile(f.policy, dir)
	if err != nil {
		return exitUnknown, err
	}
	var env []string
	if file != "" {
		if _, err := policy.Load(file, f.names()); err != nil {
			return exitUnknown, err
		}
		if f.policy != "" {
			env = []string{policyVariable + "=" + file}
		}
	}
	root, err := driver.Root(ctx, dir)
	if err != nil {
		return exitUnknown, err
	}
	list, err := driver.Run(ctx, driver.Options{
		Dir: dir, Patterns: patterns, BuildFlags: f.build, ToolFlags: f.toolFlags(), Tool: self, Env: env,
	})
	if err != nil {
		return exitUnknown, err
	}
	if f.fix {
		files, remaining, err := findings.Fix(list, os.ReadFile)
		if err != nil {
			return exitUnknown, err
		}
		if err := findings.WriteFiles(files); err != nil {
			return exitUnknown, err
		}
		list = remaining
	}
	if f.writeBaseline != "" {
		if err := findings.WriteBaseline(f.writeBaseline, root, list); err != nil {
			return exitUnknown, err
		}
		fmt.Fprintf(os.Stderr, "sbxvet: wrote %d findings to %s\n", len(list), f.writeBaseline)
		return exitClean, nil
	}
	if f.baseline != "" {
		known, err := findings.ReadBaseline(f.baseline)
		if err != nil {
			return exitUnknown, err
		}
		fresh, old, mended := findings.Split(root, list, known)
		list = fresh
		fmt.Fprintf(os.Stderr, "sbxvet: %d new, %d in the baseline, %d of the baseline mended\n", len(fresh), old, mended)
	}
	switch {
	case f.json:
		err = findings.WriteJSON(os.Stdout, list)
	case f.sarif:
		err = findings.WriteSARIF(os.Stdout, root, f.rules(), list)
	default:
		err = findings.WriteText(os.Stderr, dir, list)
	}
	if err != nil {
		return exitUnknown, err
	}
	if len(list) > 0 {
		return exitFound, nil
	}
	return exitClean, nil
}
