package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/policy"
	"golang.org/x/mod/modfile"
)

// printVersion answers -V=full: the go command makes the last word part of the key under which it keeps what a unit gave. It covers this
// program's file and every policy file in force, which the go command knows nothing of: without them a changed policy would
// change nothing until the code does.
func printVersion(w io.Writer) error {
	h := sha256.New()
	fmt.Fprintln(h, "sbxvet") // not the plain hash of the file, which another tool in the same file would answer
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program's own file: %w", err)
	}
	if err := hashFile(h, self); err != nil {
		return err
	}
	files, err := policyFiles()
	if err != nil {
		return err
	}
	for _, name := range files {
		fmt.Fprintf(h, "policy %s\n", name)
		if err := hashFile(h, name); err != nil {
			return err
		}
	}
	// The form that the go command parses (cmd/go/internal/work, (*Builder).toolID).
	if _, err := fmt.Fprintf(w, "%s version devel buildID=%02x\n", os.Args[0], h.Sum(nil)); err != nil {
		return fmt.Errorf("printing the version: %w", err)
	}
	return nil
}

func hashFile(w io.Writer, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("computing the build ID: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	if _, err := io.Copy(w, f); err != nil {
		return fmt.Errorf("computing the build ID: %w", err)
	}
	return nil
}

// policyFiles returns the policies that units may find: of the module around the working directory, and of each module of the workspace.
func policyFiles() ([]string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding the policy: %w", err)
	}
	if file := os.Getenv(policyVariable); file != "" {
		return []string{file}, nil
	}
	dirs := []string{dir}
	if work := workFile(dir); work != "" {
		data, err := os.ReadFile(work)
		if err != nil {
			return nil, fmt.Errorf("finding the policies of the workspace: %w", err)
		}
		w, err := modfile.ParseWork(work, data, nil)
		if err != nil {
			return nil, fmt.Errorf("finding the policies of the workspace: %w", err)
		}
		for _, use := range w.Use {
			p := filepath.FromSlash(use.Path)
			if !filepath.IsAbs(p) {
				p = filepath.Join(filepath.Dir(work), p)
			}
			dirs = append(dirs, p)
		}
	}
	var files []string
	for _, d := range dirs {
		p, err := policy.Find(d)
		if err != nil {
			return nil, err
		}
		if p != "" {
			files = append(files, p)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// workFile returns the go.work file in force, or "".
func workFile(dir string) string {
	if env := os.Getenv("GOWORK"); env != "" {
		if env == "off" {
			return ""
		}
		return env
	}
	for d := dir; ; d = filepath.Dir(d) {
		name := filepath.Join(d, "go.work")
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			return name
		}
		if d == filepath.Dir(d) || strings.HasSuffix(d, string(filepath.Separator)) {
			return ""
		}
	}
}

// policyVariable names the policy file for every unit, instead of the one each would find. A variable, and not a flag, because the go command
// asks for the build ID without flags.
const policyVariable = "SBXVET_POLICY"

// policyFile returns the absolute path of the policy for a run in dir: the one named, the environment's, or the one found; "" for none.
func policyFile(named, dir string) (string, error) {
	if named == "" {
		named = os.Getenv(policyVariable)
	}
	if named == "" {
		return policy.Find(dir)
	}
	if !filepath.IsAbs(named) {
		named = filepath.Join(dir, named)
	}
	return named, nil
}
