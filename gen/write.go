package gen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Write puts a package in place in one step: it is written beside its place and renamed into it, so that a reader, a compiler or an
// interrupted run sees the old package or the new one, whole. A package that is there already with the same bytes is not touched;
// changed says whether anything was. Files that an earlier run left and this one does not give are gone afterwards.
//
// A directory that holds anything sbxgen did not write is not replaced: the error names it.
func Write(module string, p Package) (changed bool, err error) {
	fail := func(err error) (bool, error) { return false, fmt.Errorf("writing package %s: %w", p.Dir, err) }
	dir := filepath.Join(module, filepath.FromSlash(p.Dir))
	current, err := read(dir)
	switch {
	case err != nil:
		return fail(err)
	case current.same(p):
		return false, nil
	}
	for _, name := range current.names() {
		if !current.files[name].generated {
			return fail(fmt.Errorf("%s was not written by sbxgen and would be lost: move it to another directory", filepath.Join(p.Dir, name)))
		}
	}

	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return fail(err)
	}
	// The go command does not look at names that begin with a dot.
	scratch, err := os.MkdirTemp(parent, ".sbxgen-"+p.Name+"-")
	if err != nil {
		return fail(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	fresh, old := filepath.Join(scratch, "new"), filepath.Join(scratch, "old")
	if err := os.Mkdir(fresh, 0o755); err != nil {
		return fail(err)
	}
	for _, f := range p.Files {
		if err := os.WriteFile(filepath.Join(fresh, f.Name), f.Content, 0o644); err != nil {
			return fail(err)
		}
	}
	if err := os.Rename(dir, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fail(err)
	}
	if err := os.Rename(fresh, dir); err != nil {
		if back := os.Rename(old, dir); back != nil && !errors.Is(back, fs.ErrNotExist) {
			err = errors.Join(err, back)
		}
		return fail(err)
	}
	return true, nil
}

// onDisk is a package as it is.
type onDisk struct {
	// files by name; a directory is a file that was not generated.
	files map[string]diskFile
}

type diskFile struct {
	content []byte
	// generated: its header says that sbxgen wrote it.
	generated bool
}

// read reads a package's directory; an absent one is empty.
func read(dir string) (onDisk, error) {
	d := onDisk{files: map[string]diskFile{}}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return d, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			d.files[e.Name()] = diskFile{}
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return d, err
		}
		_, generated := specOf(content)
		d.files[e.Name()] = diskFile{content, generated}
	}
	return d, nil
}

// specOf gives the spec that a generated file's header names; ok is false for a file that sbxgen did not write.
func specOf(content []byte) (spec string, ok bool) {
	first, _, _ := strings.Cut(string(content[:min(len(content), 4096)]), "\n")
	if inner, markdown := strings.CutPrefix(first, "<!-- "); markdown {
		first = "// " + strings.TrimSuffix(inner, " -->")
	}
	spec, ok = strings.CutPrefix(first, "// "+generatedBy)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(spec, doNotEdit)
}

func (d onDisk) same(p Package) bool {
	if len(d.files) != len(p.Files) {
		return false
	}
	for _, f := range p.Files {
		if have, ok := d.files[f.Name]; !ok || string(have.content) != string(f.Content) {
			return false
		}
	}
	return true
}
