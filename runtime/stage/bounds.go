package stage

import (
	"fmt"

	"github.com/sbxkit/sbxkit/runtime"
)

// Bounds where a launch and its policy say none.
const (
	DefaultFiles = 250_000 // entries: files, directories and links
	DefaultBytes = 4 << 30 // content of files
	DefaultDepth = 128     // parts of a path
)

// bounds is what a tree may hold and what it holds so far.
type bounds struct {
	files, bytes int64
	depth        int

	haveFiles, haveBytes int64
}

func newBounds(files, bytes int64, depth int) bounds {
	if files <= 0 {
		files = DefaultFiles
	}
	if bytes <= 0 {
		bytes = DefaultBytes
	}
	if depth <= 0 {
		depth = DefaultDepth
	}
	return bounds{files: files, bytes: bytes, depth: depth}
}

// deep looks at how many parts a path has.
func (b *bounds) deep(parts int) error {
	if parts > b.depth {
		return exceeds("it is deeper than the bound of %d directories", b.depth)
	}
	return nil
}

// entry counts one more entry.
func (b *bounds) entry() error {
	if b.haveFiles >= b.files {
		return exceeds("it is more than the bound of %d files", b.files)
	}
	b.haveFiles++
	return nil
}

// room gives how many bytes may still come.
func (b *bounds) room() int64 { return b.bytes - b.haveBytes }

// content counts bytes of content before or while they are written.
func (b *bounds) content(n int64) error {
	if n > b.room() {
		return exceeds("it makes more than the bound of %d bytes", b.bytes)
	}
	b.haveBytes += n
	return nil
}

// refusal is why a tree is not taken: what it holds, not what went wrong.
type refusal struct {
	text string
	cure string
}

func (r *refusal) Error() string { return r.text }

func refuse(format string, args ...any) error { return &refusal{text: fmt.Sprintf(format, args...)} }

func exceeds(format string, args ...any) error {
	return &refusal{text: fmt.Sprintf(format, args...), cure: "raise the bound in the launch or its policy, or leave something out"}
}

// failure makes an error one of the seam: Denied for a refusal, Setup for everything else.
func failure(step runtime.Step, feature string, err error, format string, args ...any) error {
	f := runtime.Fail(runtime.Setup, format, args...).At(step).About(feature).Because(err)
	if r := asRefusal(err); r != nil {
		f.Kind, f.Cure = runtime.Denied, r.cure
	}
	return f
}
