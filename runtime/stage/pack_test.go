//go:build unix

package stage_test

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/stage"
)

func TestWhatIsPackedIsExtractedTheSame(t *testing.T) {
	src := t.TempDir()
	tree := []string{"a/", "a/b", "empty/", "name with\nline break", "not UTF-8 \xff", "up -> a/b", strings.Repeat("long/", 40), strings.Repeat("n", 200)}
	plant(t, src, tree...)
	if err := os.Chmod(filepath.Join(src, "a/b"), 0o750|fs.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	x, err := stage.NewExtractor(dir, runtime.Artifacts{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	a := stage.Pack(t.Context(), src, 1000, 1001)
	if err := x.Extract(t.Context(), ".", io.NopCloser(a)); err != nil {
		t.Fatal(err)
	}
	files, bytes, err := a.Close()
	m, ferr := x.Finish()
	if err != nil || ferr != nil {
		t.Fatal(err, ferr)
	}
	if got, want := listTree(t, dir), listTree(t, src); !slices.Equal(got, want) {
		t.Errorf("extracted %q, want %q", got, want)
	}
	if files != 4 || bytes != m.Bytes {
		t.Errorf("%d files, %d bytes; the manifest has %d bytes", files, bytes, m.Bytes)
	}
	if info, err := os.Stat(filepath.Join(dir, "a/b")); err != nil || info.Mode() != 0o750 {
		t.Errorf("a/b: %v, %v", info.Mode(), err)
	}
}

func TestAnArchiveBelongsToOneUser(t *testing.T) {
	src := t.TempDir()
	plant(t, src, "a/b", "l -> a")
	a := stage.Pack(t.Context(), src, 1000, 1001)
	for r := tar.NewReader(a); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 1000 || h.Gid != 1001 || h.Uname != "" || h.Gname != "" {
			t.Errorf("%s belongs to %d:%d %q:%q", h.Name, h.Uid, h.Gid, h.Uname, h.Gname)
		}
	}
	if _, _, err := a.Close(); err != nil {
		t.Error(err)
	}
}

func TestPackingFailsWhereItMust(t *testing.T) {
	fifo := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(fifo, "f"), 0o600); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		dir  string
		is   error
	}{
		{"a FIFO", t.Context(), fifo, nil},
		{"no directory", t.Context(), filepath.Join(fifo, "none"), fs.ErrNotExist},
		{"an ended context", ended, t.TempDir(), context.Canceled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := stage.Pack(tt.ctx, tt.dir, 0, 0)
			_, rerr := io.Copy(io.Discard, a)
			_, _, err := a.Close()
			if rerr == nil || err == nil || tt.is != nil && (!errors.Is(err, tt.is) || !errors.Is(rerr, tt.is)) {
				t.Errorf("reading: %v; closing: %v", rerr, err)
			}
		})
	}
}

func TestAnArchiveClosedEarlyLeavesNoGoroutineAndNoError(t *testing.T) {
	src := t.TempDir()
	plant(t, src, "a", "b")
	a := stage.Pack(t.Context(), src, 0, 0)
	if _, err := io.ReadFull(a, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Close(); err != nil { // returns only when the packing ended
		t.Error(err)
	}
}
