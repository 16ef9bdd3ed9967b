package flow

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The facts are written in a form of their own. There are thousands of them in reach of a package that looks at a handful: gob would read
// them all, by reflection, and that is a tenth of the time that vetting takes.
//
// A number is a varint; a string or a list has its length before it. An alternative has a byte that says which of its parts are there.

const (
	hasText = 1 << iota
	hasN
	hasPath
	hasElems
	hasNames
	hasBase
	hasSum
)

func appendUint(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) }

func appendString(b []byte, s string) []byte { return append(appendUint(b, len(s)), s...) }

func appendList[T any](b []byte, list []T, one func([]byte, T) []byte) []byte {
	b = appendUint(b, len(list))
	for _, v := range list {
		b = one(b, v)
	}
	return b
}

func appendSummary(b []byte, s *Summary) []byte {
	b = appendList(b, s.Returns, appendValue)
	b = appendList(b, s.Sinks, func(b []byte, s Sink) []byte {
		b = appendList(appendString(appendString(b, s.Kind), s.What), s.Vals, appendValue)
		return appendList(b, s.Via, appendStep)
	})
	return appendList(b, s.Effects, func(b []byte, e Effect) []byte {
		return appendList(appendString(appendString(b, e.Kind), e.What), e.Via, appendStep)
	})
}

func appendStep(b []byte, s Step) []byte { return appendString(appendString(b, s.Name), s.Full) }

func appendValue(b []byte, v Value) []byte {
	b = appendUint(b, len(v))
	for i := range v {
		b = appendAlt(b, &v[i])
	}
	return b
}

func appendAlt(b []byte, a *Alt) []byte {
	has := byte(0)
	for _, part := range []struct {
		there bool
		bit   byte
	}{
		{a.Text != "", hasText}, {a.N != 0, hasN}, {len(a.Path) > 0, hasPath}, {len(a.Elems) > 0, hasElems},
		{len(a.Names) > 0, hasNames}, {len(a.Base) > 0, hasBase}, {a.Sum != nil, hasSum},
	} {
		if part.there {
			has |= part.bit
		}
	}
	b = append(b, byte(a.Kind), has)
	if has&hasText != 0 {
		b = appendString(b, a.Text)
	}
	if has&hasN != 0 {
		b = binary.AppendVarint(b, a.N)
	}
	if has&hasPath != 0 {
		b = appendList(b, a.Path, appendString)
	}
	if has&hasElems != 0 {
		b = appendList(b, a.Elems, appendValue)
	}
	if has&hasNames != 0 {
		b = appendList(b, a.Names, appendString)
	}
	if has&hasBase != 0 {
		b = appendList(b, a.Base, appendValue)
	}
	if has&hasSum != 0 {
		b = appendSummary(b, a.Sum)
	}
	return b
}

// A reader reads what the functions above wrote. The strings are parts of one. The first error stays, and everything after it is empty.
type reader struct {
	s   string
	err error
}

var errCut = errors.New("a fact is cut short, or of another sbxvet")

// done returns the error of reading, which is one too when something is left over.
func (r *reader) done() error {
	if r.err == nil && r.s != "" {
		r.err = errCut
	}
	if r.err != nil {
		return fmt.Errorf("reading facts: %w", r.err)
	}
	return nil
}

func (r *reader) fail() {
	r.s, r.err = "", errCut
}

func (r *reader) uint64() uint64 {
	var n uint64
	for i := 0; i < len(r.s) && i < binary.MaxVarintLen64; i++ {
		c := r.s[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.s = r.s[i+1:]
			return n
		}
	}
	r.fail()
	return 0
}

// length reads how many bytes or things follow. A thing takes a byte at least.
func (r *reader) length() int {
	n := r.uint64()
	if n > uint64(len(r.s)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) byte() byte {
	if r.s == "" {
		r.fail()
		return 0
	}
	c := r.s[0]
	r.s = r.s[1:]
	return c
}

func (r *reader) string() string {
	n := r.length()
	s := r.s[:n]
	r.s = r.s[n:]
	return s
}

func readList[T any](r *reader, one func(*reader) T) []T {
	n := r.length()
	if n == 0 {
		return nil
	}
	out := make([]T, n)
	for i := range out {
		out[i] = one(r)
	}
	return out
}

func (r *reader) summary() *Summary {
	return &Summary{
		Returns: readList(r, (*reader).value),
		Sinks: readList(r, func(r *reader) Sink {
			return Sink{Kind: r.string(), What: r.string(), Vals: readList(r, (*reader).value), Via: readList(r, (*reader).step)}
		}),
		Effects: readList(r, func(r *reader) Effect {
			return Effect{Kind: r.string(), What: r.string(), Via: readList(r, (*reader).step)}
		}),
	}
}

func (r *reader) step() Step { return Step{Name: r.string(), Full: r.string()} }

func (r *reader) value() Value { return readList(r, (*reader).alt) }

func (r *reader) alt() Alt {
	a := Alt{Kind: Kind(r.byte())}
	if a.Kind >= loop {
		r.fail() // a value that was not finished leaves no package
	}
	has := r.byte()
	if has&hasText != 0 {
		a.Text = r.string()
	}
	if has&hasN != 0 {
		n := r.uint64()
		a.N = int64(n>>1) ^ -int64(n&1)
	}
	if has&hasPath != 0 {
		a.Path = readList(r, (*reader).string)
	}
	if has&hasElems != 0 {
		a.Elems = readList(r, (*reader).value)
	}
	if has&hasNames != 0 {
		a.Names = readList(r, (*reader).string)
	}
	if has&hasBase != 0 {
		a.Base = readList(r, (*reader).value)
	}
	if has&hasSum != 0 {
		a.Sum = r.summary()
	}
	return a
}
