package runtime

import (
	"sync/atomic"
	"time"
)

// pulse is when the command last wrote to its heartbeat descriptor. The zero value is ready for use, by several goroutines.
type pulse struct{ at atomic.Int64 }

// Write notes the time; what is written does not matter.
func (p *pulse) Write(b []byte) (int, error) {
	p.at.Store(time.Now().UnixNano())
	return len(b), nil
}

func (p *pulse) last() time.Time {
	if n := p.at.Load(); n != 0 {
		return time.Unix(0, n)
	}
	return time.Time{}
}
