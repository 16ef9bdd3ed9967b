package runtime

import (
	"fmt"
	"sync"
)

// Tail is a sink that keeps the first and the last bytes of a stream and counts what it left out. It can be read while the run goes
// on, and is safe for concurrent use. Its memory is bounded by the two sizes.
type Tail struct {
	mu         sync.Mutex
	head, ring []byte
	headCap    int
	next       int // where the next byte of the ring goes
	full       bool
	total      int64
}

// NewTail keeps the first head and the last tail bytes.
func NewTail(head, tail int) *Tail {
	return &Tail{headCap: max(head, 0), ring: make([]byte, max(tail, 0))}
}

// Write keeps what fits; it never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	t.total += int64(n)
	if room := t.headCap - len(t.head); room > 0 {
		k := min(room, len(p))
		t.head = append(t.head, p[:k]...)
		p = p[k:]
	}
	if len(t.ring) == 0 {
		return n, nil
	}
	if len(p) >= len(t.ring) {
		copy(t.ring, p[len(p)-len(t.ring):])
		t.next, t.full = 0, true
		return n, nil
	}
	for len(p) > 0 {
		k := copy(t.ring[t.next:], p)
		p = p[k:]
		t.next += k
		if t.next == len(t.ring) {
			t.next, t.full = 0, true
		}
	}
	return n, nil
}

// Total counts every byte written.
func (t *Tail) Total() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

// Dropped counts the bytes between head and tail that were not kept.
func (t *Tail) Dropped() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total - int64(len(t.head)+len(t.last()))
}

func (t *Tail) last() []byte {
	if !t.full {
		return t.ring[:t.next]
	}
	return append(append(make([]byte, 0, len(t.ring)), t.ring[t.next:]...), t.ring[:t.next]...)
}

// Head and Last are copies of what is kept.
func (t *Tail) Head() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.head...)
}

// Last is a copy of the kept last bytes that are not in Head.
func (t *Tail) Last() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.last()...)
}

// String is head and tail with a line between them that counts what was dropped, if anything was.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.last()
	dropped := t.total - int64(len(t.head)+len(last))
	if dropped == 0 {
		return string(t.head) + string(last)
	}
	return fmt.Sprintf("%s\n[%d bytes dropped]\n%s", t.head, dropped, last)
}
