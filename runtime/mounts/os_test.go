//go:build unix

package mounts_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sbxkit/sbxkit/runtime/mounts"
)

func TestOSReadsSmallRegularFilesAlone(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, size int) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(strings.Repeat("x", size)), 0o644); err != nil {
			t.Fatal(err)
		}
		return p
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, path string
		want       int
		is         error
	}{
		{"empty", write("empty", 0), 0, nil},
		{"largest", write("largest", mounts.ReadFileLimit), mounts.ReadFileLimit, nil},
		{"too large", write("too large", mounts.ReadFileLimit+1), 0, syscall.EFBIG},
		{"absent", filepath.Join(dir, "absent"), 0, fs.ErrNotExist},
		{"a FIFO nobody writes to", fifo, 0, fs.ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data, err := mounts.OS{}.ReadFile(tt.path)
			if !errors.Is(err, tt.is) || tt.is == nil && err != nil {
				t.Fatalf("err = %v, want %v", err, tt.is)
			}
			if err == nil && len(data) != tt.want {
				t.Errorf("%d bytes, want %d", len(data), tt.want)
			}
		})
	}
}
