package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/gen"
	"github.com/sbxkit/sbxkit/spec"
)

// target is what one generate command makes: where, and of which specs.
type target struct {
	module string
	out    string
	plans  string
	// files are the specs, slash-separated and relative to the module.
	files []string
}

// newTarget finds the module of dir and puts paths, which are relative to dir, into its terms. A directory among the specs stands for
// the .yaml files in it.
func newTarget(dir, out, plans string, specs []string) (target, error) {
	module, err := gen.Module(dir)
	if err != nil {
		return target{}, err
	}
	t := target{module: module}
	if t.out, err = inModule(module, dir, out); err != nil {
		return target{}, err
	}
	if plans != "" {
		if t.plans, err = inModule(module, dir, plans); err != nil {
			return target{}, err
		}
	}
	for _, s := range specs {
		files, err := specFiles(filepath.Join(dir, s), s)
		if err != nil {
			return target{}, err
		}
		for _, file := range files {
			name, err := relative(module, file)
			if err != nil {
				return target{}, err
			}
			t.files = append(t.files, name)
		}
	}
	return t, nil
}

func specFiles(file, shown string) ([]string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("reading spec: %w", err)
	}
	if !info.IsDir() {
		return []string{file}, nil
	}
	entries, err := os.ReadDir(file)
	if err != nil {
		return nil, fmt.Errorf("reading specs: %w", err)
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && filepath.Ext(e.Name()) == ".yaml" {
			files = append(files, filepath.Join(file, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no spec in %s (a spec's name ends in .yaml)", shown)
	}
	slices.Sort(files)
	return files, nil
}

// inModule gives a path relative to dir in terms of the module, which it may not leave.
func inModule(module, dir, p string) (string, error) {
	if !filepath.IsAbs(p) {
		p = filepath.Join(dir, p)
	}
	name, err := relative(module, p)
	if err != nil {
		return "", err
	}
	if name == ".." || strings.HasPrefix(name, "../") {
		return "", fmt.Errorf("%s is outside the module in %s", p, module)
	}
	return name, nil
}

func relative(module, p string) (string, error) {
	absolute, err := filepath.Abs(p)
	if err != nil {
		return "", fmt.Errorf("placing %s: %w", p, err)
	}
	name, err := filepath.Rel(module, absolute)
	if err != nil {
		return "", fmt.Errorf("placing %s: %w", p, err)
	}
	return filepath.ToSlash(name), nil
}

// load reads every spec of the target; the faults of all of them are one error.
func (t target) load() ([]*spec.Backend, error) {
	var (
		backends []*spec.Backend
		failed   []error
	)
	for _, name := range t.files {
		b, diagnostics := spec.Load(name, func(p string) ([]byte, error) {
			return os.ReadFile(filepath.Join(t.module, filepath.FromSlash(p)))
		})
		if err := diagnostics.Err(); err != nil {
			failed = append(failed, err)
			continue
		}
		backends = append(backends, b)
	}
	return backends, errors.Join(failed...)
}

func (t target) options() gen.Options {
	return gen.Options{Module: t.module, Out: t.out, Plans: t.plans}
}

// loadOne reads the spec in a file as the person named it, or a built-in one by its name.
func loadOne(name string) (*spec.Backend, error) {
	if slices.Contains(spec.Builtins(), name) {
		if _, err := os.Stat(name); err != nil {
			return spec.Builtin(name)
		}
	}
	b, diagnostics := spec.Load(filepath.ToSlash(name), func(p string) ([]byte, error) {
		return os.ReadFile(filepath.FromSlash(p))
	})
	return b, diagnostics.Err()
}
