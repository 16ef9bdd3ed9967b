package gen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/sbxkit/sbxkit/spec"
)

// Options say where generated packages belong.
type Options struct {
	// Module is the directory of the target module's go.mod.
	Module string
	// Out is the directory below which each package gets one of its own, slash-separated and relative to Module.
	Out string
	// Plans is the directory of the golden plans, which tests keep beside generated code, slash-separated and relative to Module. Empty is
	// DefaultPlans.
	Plans string
}

// DefaultPlans is where golden plans are kept unless said otherwise.
const DefaultPlans = "testdata/plans"

// Package is one generated package, in memory.
type Package struct {
	Name string
	// Dir is slash-separated and relative to the module.
	Dir string
	// Spec is the file it was made from.
	Spec string
	// Files are sorted by name.
	Files []File
}

// File is one file of a package.
type File struct {
	Name    string
	Content []byte
}

// Generate makes a package of each spec and type-checks it in the target module. It writes nothing. On error nothing is given: the
// errors of all packages are joined, those of a spec with their place in it.
func Generate(ctx context.Context, specs []*spec.Backend, o Options) ([]Package, error) {
	if o.Plans == "" {
		o.Plans = DefaultPlans
	}
	if err := distinct(specs); err != nil {
		return nil, err
	}
	imported, err := loadImports(ctx, o.Module, importsOf(specs))
	if err != nil {
		return nil, err
	}
	packages := make([]Package, 0, len(specs))
	var failed []error
	for _, s := range specs {
		p, err := generate(s, o, imported)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		packages = append(packages, p)
	}
	if len(failed) != 0 {
		return nil, errors.Join(failed...)
	}
	return packages, nil
}

// distinct refuses two specs for one package.
func distinct(specs []*spec.Backend) error {
	first := map[string]*spec.Backend{}
	for _, s := range specs {
		if other := first[s.Name]; other != nil {
			return fmt.Errorf("%s: backend %s is also described by %s; give one of them another name", s.Pos, s.Name, other.Pos)
		}
		first[s.Name] = s
	}
	return nil
}

// pkg is one package while it is written.
type pkg struct {
	spec  *spec.Backend
	out   Options
	lines []line
	api   *apiTypes // engines only
	// options are the fields of the package's Options.
	options []option
}

func generate(s *spec.Backend, o Options, imported *imports) (Package, error) {
	p := &pkg{spec: s, out: o}
	var err error
	if p.lines, err = lines(s.Words); err != nil {
		return Package{}, err
	}
	if p.options, err = optionsOf(s); err != nil {
		return Package{}, err
	}
	if s.Kind == spec.KindEngine {
		if p.api, err = newAPITypes(imported.types[enginePath]); err != nil {
			return Package{}, err
		}
	}
	out := Package{Name: s.Name, Dir: path.Join(o.Out, s.Name), Spec: s.File}
	for _, part := range p.parts() {
		content, err := p.render(part)
		if err != nil {
			return Package{}, fmt.Errorf("writing %s of backend %s: %w", part.name, s.Name, err)
		}
		out.Files = append(out.Files, File{Name: part.name, Content: content})
	}
	out.Files = append(out.Files, File{Name: "README.md", Content: p.readme()})
	slices.SortFunc(out.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	if err := imported.check(out); err != nil {
		return Package{}, fmt.Errorf("%s: the code made of this spec does not compile; this is a fault of sbxgen, please report it with the spec: %w",
			s.Pos, err)
	}
	return out, nil
}

// part is one Go file of a package.
type part struct {
	name  string
	write func(*jen.File) error
	// doc makes it the file of the package comment.
	doc []string
}

func (p *pkg) parts() []part {
	sure := func(write func(*jen.File)) func(*jen.File) error {
		return func(f *jen.File) error { write(f); return nil }
	}
	parts := []part{
		{name: "doc.go", write: sure(func(*jen.File) {}), doc: p.packageComment()},
		{name: "argv.go", write: sure(p.argvFile)},
		{name: "explain.go", write: sure(p.explainFile)},
		{name: "policy.go", write: sure(p.policyFile)},
		{name: "capability.go", write: sure(p.capabilityFile)},
		{name: "backend.go", write: sure(p.backendFile)},
		{name: "plan_test.go", write: sure(p.planTestFile)},
	}
	if p.api != nil {
		parts = append(parts, part{name: "create.go", write: p.createFile})
	}
	return parts
}

// declared are the names a generated package declares at top level, and those of variables in its functions: imports keep clear of them.
var declared = []string{
	"argv", "capacity", "explain", "create", "policy", "describe", "features", "definition", "Options", "Backend", "New",
	"TestPlans", "TestExplainGivesTheWordsOfArgv", "BenchmarkArgv", "FuzzArgv",
	"r", "w", "o", "c", "d", "i", "m", "v", "l", "p", "h", "b", "f", "t", "in", "ctx", "err", "word", "words", "bytes", "alias", "server", "grant",
}

func (p *pkg) render(part part) ([]byte, error) {
	f := jen.NewFilePathName(path.Join("generated", p.spec.Name), p.spec.Name)
	planImports(f, importNames(importPaths, declared))
	for _, line := range p.header() {
		f.HeaderComment("// " + line)
	}
	for _, line := range part.doc {
		f.PackageComment(line)
	}
	if err := part.write(f); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := f.Render(&b); err != nil {
		return nil, err
	}
	return groupImports(b.Bytes())
}

// header names the spec and its digest, and nothing that differs between two runs. The first line is the one that tools know generated
// files by.
func (p *pkg) header() []string {
	return []string{
		generatedBy + oneLine(filepath.ToSlash(p.spec.File)) + doNotEdit,
		"Spec " + oneLine(p.spec.Digest),
	}
}

const (
	generatedBy = "Code generated by sbxgen from "
	doNotEdit   = ". DO NOT EDIT."
)

func (p *pkg) packageComment() []string {
	var doc []string
	doc = append(doc, paragraphs("Package "+p.spec.Name+" is a sandbox backend. "+p.spec.Summary, 120)...)
	doc = append(doc, "//")
	doc = append(doc, paragraphs("The policy is shown as tables in README.md beside this file; both come from "+p.spec.File+".", 120)...)
	return append(doc, "//", "//sbx:backend")
}

// programWord is true where the argv begins with the launcher's own name: an engine's command line is completed by its room.
func (p *pkg) programWord() bool {
	return p.spec.Kind == spec.KindProcess && p.spec.Program != nil && p.spec.Program.Name != ""
}
