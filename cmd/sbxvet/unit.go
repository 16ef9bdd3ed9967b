package main

import (
	"archive/zip"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/sbxkit/sbxkit/analyzers/findings"
	"github.com/sbxkit/sbxkit/analyzers/policy"
	"github.com/sbxkit/sbxkit/analyzers/unit"
)

// analyseUnit does what the go command asks of a vet tool: it analyses the unit that the file describes.
func analyseUnit(f *flags, name string) (code int, err error) {
	cfg, err := unit.ReadConfig(name)
	if err != nil {
		return exitUnknown, err
	}
	if cfg.Standard() {
		return exitClean, cfg.WriteFacts(nil)
	}
	collectLate()
	file := os.Getenv(policyVariable)
	if file == "" && cfg.Main() {
		// A dependency's own policy has no say in what is reported.
		if file, err = policy.Find(cfg.Dir); err != nil {
			return exitUnknown, err
		}
	}
	if err := applyPolicy(f, file); err != nil {
		return exitUnknown, err
	}
	result, err := unit.Run(cfg, f.rules())
	if err != nil {
		return exitUnknown, err
	}
	out := os.Stdout
	if cfg.Stdout != "" {
		if out, err = os.Create(cfg.Stdout); err != nil {
			return exitUnknown, fmt.Errorf("writing findings: %w", err)
		}
		defer func() {
			if cerr := out.Close(); err == nil && cerr != nil {
				code, err = exitUnknown, fmt.Errorf("writing findings: %w", cerr)
			}
		}()
	}
	switch {
	case f.fix:
		return exitClean, fixUnit(cfg, result)
	case f.json:
		return exitClean, result.WriteJSON(out, cfg.ID)
	}
	n, err := result.WriteText(os.Stderr)
	if err != nil {
		return exitUnknown, err
	}
	if n > 0 {
		return exitFound, nil
	}
	return exitClean, nil
}

// startHeap is what the heap of a process that analyses a unit may grow to before the garbage collector sets in, in bytes. Most units end before
// that, and the collector would take a third of their time.
const startHeap = 64 << 20

// collectLate lets the garbage collector begin at startHeap and go on as usual from there. A GOGC of the user's is left alone.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const least = 4 << 20 // at which the runtime begins with the usual 100 %
	usual := debug.SetGCPercent(100 * startHeap / least)
	// The object is garbage at once, so this is called after the first collection.
	runtime.AddCleanup(&struct{ p *int }{new(int)}, func(percent int) { debug.SetGCPercent(percent) }, usual)
}

func applyPolicy(f *flags, file string) error {
	var p *policy.Policy
	if file != "" {
		var err error
		if p, err = policy.Load(file, f.names()); err != nil {
			return err
		}
	}
	policy.Apply(p)
	return nil
}

// fixUnit makes the fixes of a unit, in the archive that the go command asks for, or in place.
func fixUnit(cfg *unit.Config, result *unit.Result) error {
	var list []findings.Finding
	for _, a := range result.Diagnostics {
		for _, d := range a.List {
			list = append(list, findings.Finding{Unit: cfg.ID, Rule: a.Analyzer.Name, Diagnostic: unit.JSON(result.Fset, d)})
		}
	}
	files, _, err := findings.Fix(list, os.ReadFile)
	if err != nil {
		return err
	}
	if cfg.FixArchive == "" {
		return findings.WriteFiles(files)
	}
	archive, err := os.Create(cfg.FixArchive)
	if err != nil {
		return fmt.Errorf("writing fixes: %w", err)
	}
	defer archive.Close() //nolint:errcheck // closed below when it matters
	w := zip.NewWriter(archive)
	var names []string
	for n := range files {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		entry, err := w.Create(n)
		if err != nil {
			return fmt.Errorf("writing fixes: %w", err)
		}
		if _, err := entry.Write(files[n]); err != nil {
			return fmt.Errorf("writing fixes: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("writing fixes: %w", err)
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("writing fixes: %w", err)
	}
	return nil
}
