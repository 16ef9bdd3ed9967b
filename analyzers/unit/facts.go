package unit

import (
	"bytes"
	"cmp"
	"fmt"
	"go/types"
	"os"
	"reflect"
	"slices"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/objectpath"
)

// magic starts a file of facts.
const magic = "sbxvet2\n"

// An entry is the facts of one package, encoded.
type entry struct {
	Path string
	Blob []byte
}

// A factKey identifies a fact: about obj, or about pkg when obj is nil.
type factKey struct {
	pkg  *types.Package
	obj  types.Object
	kind reflect.Type
}

// A factSet holds the facts that a unit sees and makes. Its methods may be called concurrently.
type factSet struct {
	pkg  *types.Package
	deps []entry // as read, the ones whose packages the unit's types mention

	mu sync.Mutex
	m  map[factKey]analysis.Fact
}

// readEntries reads the files of facts of the direct imports and returns their union, sorted by path. Every package is in there once:
// the facts of a package are the same wherever they come from.
func readEntries(files map[string]string) ([]entry, error) {
	byPath := make(map[string][]byte)
	for _, path := range slices.Sorted(keys(files)) {
		data, err := os.ReadFile(files[path])
		if err != nil {
			return nil, fmt.Errorf("reading the facts of %q: %w", path, err)
		}
		if len(data) == 0 {
			continue
		}
		rest, ok := bytes.CutPrefix(data, []byte(magic))
		if !ok {
			return nil, fmt.Errorf("the facts of %q in %s were not written by this sbxvet", path, files[path])
		}
		list, err := decodeEntries(rest)
		if err != nil {
			return nil, fmt.Errorf("reading the facts of %q: %w", path, err)
		}
		for _, e := range list {
			// A package's own statement is the fullest.
			if _, ok := byPath[e.Path]; !ok || e.Path == path {
				byPath[e.Path] = e.Blob
			}
		}
	}
	out := make([]entry, 0, len(byPath))
	for path, blob := range byPath {
		out = append(out, entry{path, blob})
	}
	slices.SortFunc(out, func(a, b entry) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

func keys[M ~map[K]V, K comparable, V any](m M) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// newFactSet decodes the facts of the packages that are known to the type checker; those of others cannot matter to the unit.
func newFactSet(pkg *types.Package, known map[string]*types.Package, entries []entry) (*factSet, error) {
	s := &factSet{pkg: pkg, m: make(map[factKey]analysis.Fact)}
	for _, e := range entries {
		p := known[e.Path]
		if p == nil {
			continue
		}
		s.deps = append(s.deps, e)
		err := decodeRecords(e.Blob, func(r record) {
			k := factKey{pkg: p, kind: reflect.TypeOf(r.fact)}
			if r.object != "" {
				obj, err := objectpath.Object(p, objectpath.Path(r.object))
				if err != nil {
					return // not part of what the unit can see of the package
				}
				k.obj = obj
			}
			s.m[k] = r.fact
		})
		if err != nil {
			return nil, fmt.Errorf("decoding the facts of %q: %w", e.Path, err)
		}
	}
	return s, nil
}

func (s *factSet) get(k factKey, into analysis.Fact) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.m[k]
	if ok {
		reflect.ValueOf(into).Elem().Set(reflect.ValueOf(f).Elem())
	}
	return ok
}

func (s *factSet) importObject(obj types.Object, fact analysis.Fact) bool {
	return s.get(factKey{obj.Pkg(), obj, reflect.TypeOf(fact)}, fact)
}

func (s *factSet) importPackage(pkg *types.Package, fact analysis.Fact) bool {
	return s.get(factKey{pkg, nil, reflect.TypeOf(fact)}, fact)
}

func (s *factSet) exportObject(obj types.Object, fact analysis.Fact) {
	if obj.Pkg() != s.pkg {
		panic(fmt.Sprintf("fact about %s, which is not of package %s", obj, s.pkg.Path()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[factKey{s.pkg, obj, reflect.TypeOf(fact)}] = fact
}

func (s *factSet) exportPackage(fact analysis.Fact) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[factKey{s.pkg, nil, reflect.TypeOf(fact)}] = fact
}

func (s *factSet) allObjects(kinds map[reflect.Type]bool) []analysis.ObjectFact {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []analysis.ObjectFact
	for k, f := range s.m {
		if k.obj != nil && kinds[k.kind] {
			out = append(out, analysis.ObjectFact{Object: k.obj, Fact: f})
		}
	}
	return out
}

func (s *factSet) allPackages(kinds map[reflect.Type]bool) []analysis.PackageFact {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []analysis.PackageFact
	for k, f := range s.m {
		if k.obj == nil && kinds[k.kind] {
			out = append(out, analysis.PackageFact{Package: k.pkg, Fact: f})
		}
	}
	return out
}

// encode returns the unit's own facts and those it has seen of the packages its types mention.
func (s *factSet) encode() ([]byte, error) {
	var own []record
	enc := new(objectpath.Encoder)
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, f := range s.m {
		if k.pkg != s.pkg {
			continue
		}
		r := record{fact: f}
		if k.obj != nil {
			path, err := enc.For(k.obj)
			if err != nil {
				continue // nobody outside can name it
			}
			r.object = string(path)
		}
		own = append(own, r)
	}
	out := slices.Clone(s.deps)
	if len(own) > 0 {
		blob, err := encodeRecords(own)
		if err != nil {
			return nil, fmt.Errorf("encoding facts: %w", err)
		}
		out = append(out, entry{s.pkg.Path(), blob})
	}
	return encodeEntries(out), nil
}
