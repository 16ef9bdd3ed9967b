// Package codebase lays a module of the module cache out as a main module of its own, for what is to be tried on much code that is not ours.
package codebase

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// A Base is a module laid out in a directory, as if it had been cloned there.
type Base struct {
	Module  string
	Version string
	Dir     string

	// Packages are the import paths of its packages that compile, with their tests, in order.
	Packages []string

	// Without are those of its packages that do not: something they import is not to be had.
	Without []string
}

// Lay copies a module to dir, which must be empty or missing, and makes it a main module with the requirements of its own: those of its
// go.mod without those that it takes from directories beside it, or of the vendor.mod of a repository that has no go.mod. The module is one that the module around the working directory
// requires, or any other as path@version. What it requires in turn comes from the module cache, and from the module proxy where one is
// to be reached and the cache lacks it.
func Lay(ctx context.Context, module, dir string) (*Base, error) {
	var m struct{ Path, Version, Dir, Error string }
	out, err := output(exec.CommandContext(ctx, "go", "mod", "download", "-json", module))
	if err != nil {
		return nil, fmt.Errorf("finding %s in the module cache: %w", module, err)
	}
	if err := json.Unmarshal(out, &m); err != nil {
		return nil, fmt.Errorf("finding %s in the module cache: %w", module, err)
	}
	if m.Error != "" {
		return nil, fmt.Errorf("finding %s in the module cache: %s", module, m.Error)
	}
	if err := os.CopyFS(dir, os.DirFS(m.Dir)); err != nil {
		return nil, fmt.Errorf("copying %s: %w", module, err)
	}
	b := &Base{Module: m.Path, Version: m.Version, Dir: dir}
	if err := b.require(); err != nil {
		return nil, err
	}
	return b, b.list(ctx)
}

// require sees to it that there is a go.mod, and that nothing is vendored: what is left of vendor directories in the module cache is no
// longer whole.
func (b *Base) require() error {
	if err := os.RemoveAll(filepath.Join(b.Dir, "vendor")); err != nil {
		return fmt.Errorf("laying out %s: %w", b.Module, err)
	}
	switch err := b.nothingBeside(); {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("laying out %s: %w", b.Module, err)
	}
	for from, to := range map[string]string{"vendor.mod": "go.mod", "vendor.sum": "go.sum"} {
		if err := os.Rename(filepath.Join(b.Dir, from), filepath.Join(b.Dir, to)); err != nil {
			return fmt.Errorf("%s has neither go.mod nor vendor.mod and vendor.sum: %w", b.Module, err)
		}
	}
	return nil
}

// nothingBeside takes out of go.mod what replaces modules by directories: those of the repository that the module cache has not.
func (b *Base) nothingBeside() error {
	name := filepath.Join(b.Dir, "go.mod")
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := modfile.Parse(name, data, nil)
	if err != nil {
		return err
	}
	for _, r := range slices.Clone(f.Replace) {
		if r.New.Version == "" {
			if err := f.DropReplace(r.Old.Path, r.Old.Version); err != nil {
				return err
			}
		}
	}
	f.Cleanup()
	if data, err = f.Format(); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// list fills in the packages.
func (b *Base) list(ctx context.Context) error {
	out, err := output(b.Command(ctx, "go", "list", "-e", "-test", "-json=ImportPath,ForTest,Incomplete", "./..."))
	if err != nil {
		return fmt.Errorf("listing the packages of %s: %w", b.Module, err)
	}
	incomplete := make(map[string]bool)
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, ForTest string
			Incomplete          bool
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("listing the packages of %s: %w", b.Module, err)
		}
		path := p.ForTest
		if path == "" {
			path = strings.TrimSuffix(p.ImportPath, ".test")
		}
		incomplete[path] = incomplete[path] || p.Incomplete
	}
	for path, is := range incomplete {
		if is {
			b.Without = append(b.Without, path)
		} else {
			b.Packages = append(b.Packages, path)
		}
	}
	slices.Sort(b.Packages)
	slices.Sort(b.Without)
	return nil
}

// Command returns a command that runs in the directory of the module, whatever workspace that lies in.
func (b *Base) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = b.Dir
	cmd.Env = append(os.Environ(), "PWD="+b.Dir, "GOWORK=off", "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -mod=mod"))
	return cmd
}

func output(cmd *exec.Cmd) ([]byte, error) {
	out, err := cmd.Output()
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return out, fmt.Errorf("%w\n%s%s", err, e.Stderr, out)
	}
	return out, err
}
