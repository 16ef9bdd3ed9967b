package runtime

import (
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Words collects an argv. Generated builders use it: words made of several parts are written into one buffer and sliced out of it,
// so that a whole argv costs one allocation for the list and one for the text.
//
// The zero value is ready for use; Grow sizes both buffers. It is not safe for concurrent use and must not be copied after use.
type Words struct {
	list  []string
	text  strings.Builder
	start int
}

// Grow makes room for n words and for bytes bytes of composed text.
func (w *Words) Grow(n, bytes int) {
	if w.list == nil {
		w.list = make([]string, 0, n)
	}
	w.text.Grow(bytes)
}

// Add appends whole words.
func (w *Words) Add(words ...string) { w.list = append(w.list, words...) }

// Text appends s to the word being composed.
func (w *Words) Text(s string) *Words {
	w.text.WriteString(s)
	return w
}

// RunName appends the name of a run's container or process to the word being composed.
func (w *Words) RunName(r RunName) *Words { return w.Text(runPrefix).Text(r.ID) }

// Bytes appends b to the word being composed.
func (w *Words) Bytes(b []byte) *Words {
	w.text.Write(b)
	return w
}

// Int appends n in decimal to the word being composed.
func (w *Words) Int(n int64) *Words {
	var digits [20]byte
	w.text.Write(strconv.AppendInt(digits[:0], n, 10))
	return w
}

// Uint appends n in decimal to the word being composed.
func (w *Words) Uint(n uint64) *Words {
	var digits [20]byte
	w.text.Write(strconv.AppendUint(digits[:0], n, 10))
	return w
}

// Address appends an IP address to the word being composed.
func (w *Words) Address(a netip.Addr) *Words {
	var text [64]byte
	w.text.Write(a.AppendTo(text[:0]))
	return w
}

// Octal appends n in octal with a leading zero to the word being composed.
func (w *Words) Octal(n uint32) *Words {
	var digits [16]byte
	w.text.Write(strconv.AppendUint(append(digits[:0], '0'), uint64(n), 8))
	return w
}

// Decimal appends n/scale as a decimal fraction without trailing zeros ("1.5" for 1500000000 by 1000000000).
func (w *Words) Decimal(n, scale uint64) *Words {
	w.Uint(n / scale)
	rest := n % scale
	if rest == 0 {
		return w
	}
	w.text.WriteByte('.')
	for rest != 0 {
		scale /= 10
		w.text.WriteByte(byte('0' + rest/scale))
		rest %= scale
	}
	return w
}

// CSV appends s to the word being composed as (part of) one field of comma-separated values: quoted where it holds a comma, a quote, or
// a line break, as engines' --mount option reads it. name= stands before the value inside the quotes.
func (w *Words) CSV(name, value string) *Words {
	if w.text.Len() > w.start {
		w.text.WriteByte(',')
	}
	if plainField(value) {
		w.text.WriteString(name)
		w.text.WriteString(value)
		return w
	}
	w.text.WriteByte('"')
	w.text.WriteString(name)
	for i := range len(value) {
		if value[i] == '"' {
			w.text.WriteByte('"')
		}
		w.text.WriteByte(value[i])
	}
	w.text.WriteByte('"')
	return w
}

// plainField is true for a value that comma-separated values hold as it is.
func plainField(value string) bool {
	for i := range len(value) {
		switch value[i] {
		case ',', '"', '\r', '\n':
			return false
		}
	}
	return true
}

// End finishes the word being composed and appends it.
func (w *Words) End() {
	all := w.text.String()
	w.list = append(w.list, all[w.start:])
	w.start = len(all)
}

// Take finishes what is being composed and gives it, without appending it.
func (w *Words) Take() string {
	all := w.text.String()
	taken := all[w.start:]
	w.start = len(all)
	return taken
}

// List gives the words.
func (w *Words) List() []string { return w.list }

// Seconds gives d in whole seconds, rounded up: a bound is never shorter than was asked for.
func Seconds(d time.Duration) int64 {
	s := int64(d / time.Second)
	if d%time.Second > 0 {
		s++
	}
	return s
}

// Signed gives n as an int64; what does not fit is the largest int64.
func Signed(n uint64) int64 { return int64(min(n, math.MaxInt64)) }
