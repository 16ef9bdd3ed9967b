package unit

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"golang.org/x/tools/go/analysis"
)

// A file of facts is the number of its entries, each a path and a blob. A blob is a list of sections, one a kind of fact: the kind's name, the
// number of its facts, their objects, and the facts. Those of a kind that encodes itself (gob.GobEncoder) each have their length before
// them; those of another are one stream of gob's, which describes the kind once. Lengths and numbers are varints.

// A record is one fact.
type record struct {
	object string // an objectpath.Path, "" for a fact about the package
	fact   analysis.Fact
}

var (
	register sync.Once
	kinds    = make(map[string]reflect.Type)
)

// registerFacts tells the decoder about the fact types of the analyzers and of what they require.
func registerFacts(analyzers []*analysis.Analyzer) {
	register.Do(func() {
		seen := make(map[*analysis.Analyzer]bool)
		var visit func(a *analysis.Analyzer)
		visit = func(a *analysis.Analyzer) {
			if seen[a] {
				return
			}
			seen[a] = true
			for _, f := range a.FactTypes {
				kinds[kindName(f)] = reflect.TypeOf(f)
			}
			for _, r := range a.Requires {
				visit(r)
			}
		}
		for _, a := range analyzers {
			visit(a)
		}
	})
}

func kindName(f analysis.Fact) string {
	t := reflect.TypeOf(f).Elem()
	return t.PkgPath() + "." + t.Name()
}

func appendBytes[B ~string | ~[]byte](to []byte, b B) []byte {
	return append(binary.AppendUvarint(to, uint64(len(b))), b...)
}

// A cursor reads what follows. The first error stays, and everything after it is empty.
type cursor struct {
	data []byte
	err  error
}

var errCut = errors.New("they are cut short, or were not written by this sbxvet")

// number reads a number of things that follow, each of a byte at least.
func (c *cursor) number() int {
	n, size := binary.Uvarint(c.data)
	if size <= 0 || n > uint64(len(c.data)-size) {
		c.data, c.err = nil, errCut
		return 0
	}
	c.data = c.data[size:]
	return int(n)
}

func (c *cursor) bytes() []byte {
	n := c.number()
	b := c.data[:n:n]
	c.data = c.data[n:]
	return b
}

func encodeEntries(list []entry) []byte {
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.Path, b.Path) })
	size := len(magic) + binary.MaxVarintLen64
	for _, e := range list {
		size += len(e.Path) + len(e.Blob) + 2*binary.MaxVarintLen64
	}
	out := append(make([]byte, 0, size), magic...)
	out = binary.AppendUvarint(out, uint64(len(list)))
	for _, e := range list {
		out = appendBytes(appendBytes(out, e.Path), e.Blob)
	}
	return out
}

func decodeEntries(data []byte) ([]entry, error) {
	c := &cursor{data: data}
	list := make([]entry, c.number())
	for i := range list {
		list[i] = entry{string(c.bytes()), c.bytes()}
	}
	if c.err == nil && len(c.data) > 0 {
		c.err = errCut
	}
	return list, c.err
}

func encodeRecords(list []record) ([]byte, error) {
	byKind := make(map[string][]record)
	for _, r := range list {
		name := kindName(r.fact)
		byKind[name] = append(byKind[name], r)
	}
	var out []byte
	for _, name := range slices.Sorted(keys(byKind)) {
		section := byKind[name]
		slices.SortFunc(section, func(a, b record) int { return cmp.Compare(a.object, b.object) })
		out = binary.AppendUvarint(appendBytes(out, name), uint64(len(section)))
		for _, r := range section {
			out = appendBytes(out, r.object)
		}
		if _, ok := section[0].fact.(gob.GobEncoder); ok {
			for _, r := range section {
				data, err := r.fact.(gob.GobEncoder).GobEncode()
				if err != nil {
					return nil, err
				}
				out = appendBytes(out, data)
			}
			continue
		}
		var stream bytes.Buffer
		enc := gob.NewEncoder(&stream)
		for _, r := range section {
			if err := enc.Encode(r.fact); err != nil {
				return nil, err
			}
		}
		out = appendBytes(out, stream.Bytes())
	}
	return out, nil
}

func decodeRecords(blob []byte, each func(record)) error {
	c := &cursor{data: blob}
	for len(c.data) > 0 {
		name := string(c.bytes())
		kind, ok := kinds[name]
		if !ok && c.err == nil {
			return fmt.Errorf("nothing is known of facts of the kind %q", name)
		}
		objects := make([]string, c.number())
		for i := range objects {
			objects[i] = string(c.bytes())
		}
		if c.err != nil {
			return c.err
		}
		var stream *gob.Decoder
		if !kind.Implements(reflect.TypeFor[gob.GobDecoder]()) {
			stream = gob.NewDecoder(bytes.NewReader(c.bytes()))
		}
		for _, object := range objects {
			fact := reflect.New(kind.Elem()).Interface().(analysis.Fact)
			var err error
			if stream != nil {
				err = stream.Decode(fact)
			} else if data := c.bytes(); c.err == nil {
				err = fact.(gob.GobDecoder).GobDecode(data)
			}
			if err := errors.Join(c.err, err); err != nil {
				return err
			}
			each(record{object, fact})
		}
	}
	return c.err
}
