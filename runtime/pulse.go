package runtime

import (
	"io"
	"sync/atomic"
	"time"
)

// pulse is when the command last wrote to its heartbeat descriptor. The zero value is ready for use, by several goroutines.
type pulse struct{ at atomic.Int64 }

// listen reads until the descriptor is closed at either end. What is written does not matter.
func (p *pulse) listen(r io.Reader) {
	buf := make([]byte, 512)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			p.at.Store(time.Now().UnixNano())
		}
		if err != nil {
			return
		}
	}
}

func (p *pulse) last() time.Time {
	if n := p.at.Load(); n != 0 {
		return time.Unix(0, n)
	}
	return time.Time{}
}
