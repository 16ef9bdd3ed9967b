//go:build unix

package stage_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/stage"
)

// plant makes a tree: a name that ends in a slash is a directory, "name -> text" a link, everything else a file that holds its name.
func plant(t testing.TB, dir string, names ...string) {
	t.Helper()
	for _, n := range names {
		name, text, isLink := strings.Cut(n, " -> ")
		p := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(p), 0o755)
		switch {
		case err != nil:
		case isLink:
			err = os.Symlink(text, p)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(p, 0o755)
		default:
			err = os.WriteFile(p, []byte(name), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// listTree lists a tree in plant's form.
func listTree(t testing.TB, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		name, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			name += "/"
		case d.Type() == fs.ModeSymlink:
			text, err := os.Readlink(p)
			if err != nil {
				return err
			}
			name += " -> " + text
		default:
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			if string(data) != name {
				name += " : " + string(data)
			}
		}
		list = append(list, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// take makes a snapshot; whatever happens, nothing is left beside it.
func take(t testing.TB, ctx context.Context, w runtime.Workspace) (dir, note string, err error) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "snapshot")
	note, err = stage.New().Snapshot(ctx, w, dir)
	left, rerr := os.ReadDir(top)
	want := 1
	if err != nil {
		want = 0
	}
	if rerr != nil || len(left) != want {
		t.Errorf("beside the snapshot: %v, %v", left, rerr)
	}
	return dir, note, err
}

func TestASnapshotOfADirectory(t *testing.T) {
	src := t.TempDir()
	tree := []string{"a/", "a/b/", "a/b/c", "a/up -> ../d", "d", "dangling -> none", "empty/", "name with\nline break", "z -> a/b/../up"}
	plant(t, src, tree...)
	plant(t, src, ".git/config", ".git/hooks/post-checkout", "a/.git", "a/.gitignore")
	for name, mode := range map[string]fs.FileMode{"d": 0o755 | fs.ModeSetuid, "a/b/c": 0o400, "empty": 0o700} {
		if err := os.Chmod(filepath.Join(src, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	dir, note, err := take(t, t.Context(), runtime.Workspace{Source: src})
	if err != nil {
		t.Fatal(err)
	}
	want := append(slices.Clone(tree), "a/.gitignore")
	slices.Sort(want)
	got := listTree(t, dir)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("copied %q, want %q", got, want)
	}
	for _, s := range []string{"10 entries", "left out: .git, a/.git"} {
		if !strings.Contains(note, s) {
			t.Errorf("note %q does not say %q", note, s)
		}
	}
	for name, want := range map[string]fs.FileMode{"d": 0o755, "a/b/c": 0o600, "empty": 0o700 | fs.ModeDir, ".": 0o755 | fs.ModeDir} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
}

func TestWhatNoSnapshotHolds(t *testing.T) {
	tests := []struct {
		name  string
		plant func(t *testing.T, dir string)
		w     runtime.Workspace
		kind  error
		says  string
	}{
		{"link out", func(t *testing.T, dir string) { plant(t, dir, "l -> ../x") }, runtime.Workspace{}, runtime.ErrDenied, "leads out"},
		{"link to an absolute path", func(t *testing.T, dir string) { plant(t, dir, "l -> /etc/passwd") }, runtime.Workspace{}, runtime.ErrDenied, "/etc/passwd"},
		{"link to an absolute path in the tree", func(t *testing.T, dir string) { plant(t, dir, "f", "l -> "+dir+"/f") }, runtime.Workspace{}, runtime.ErrDenied, "out of the tree"},
		{"link out through another", func(t *testing.T, dir string) { plant(t, dir, "p/q/d -> ../..", "l -> p/q/d/../x") }, runtime.Workspace{}, runtime.ErrDenied, "leads out"},
		{"link into what is left out", func(t *testing.T, dir string) { plant(t, dir, ".git/config", "l -> .git/config") }, runtime.Workspace{}, nil, ""},
		{"FIFO", func(t *testing.T, dir string) {
			if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, runtime.Workspace{}, runtime.ErrDenied, "fifo"},
		{"socket", func(t *testing.T, dir string) {
			l, err := net.Listen("unix", filepath.Join(dir, "s"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
		}, runtime.Workspace{}, runtime.ErrDenied, `"s"`},
		{"too many files", func(t *testing.T, dir string) { plant(t, dir, "1", "2", "3") }, runtime.Workspace{Files: 2}, runtime.ErrDenied, "2 files"},
		{"far too many files in one directory", func(t *testing.T, dir string) {
			for i := range 200 {
				plant(t, dir, fmt.Sprintf("f%d", i))
			}
		}, runtime.Workspace{Files: 20}, runtime.ErrDenied, "bound on files"},
		{"names that are not UTF-8", func(t *testing.T, dir string) { plant(t, dir, "\xff/\xfe", "l -> \xff") }, runtime.Workspace{}, nil, ""},
		{"as many files as may be", func(t *testing.T, dir string) { plant(t, dir, "1", "2", "3") }, runtime.Workspace{Files: 3}, nil, ""},
		{"too many bytes", func(t *testing.T, dir string) { plant(t, dir, "1234", "abcd") }, runtime.Workspace{Bytes: 7}, runtime.ErrDenied, "7 bytes"},
		{"as many bytes as may be", func(t *testing.T, dir string) { plant(t, dir, "1234", "abcd") }, runtime.Workspace{Bytes: 8}, nil, ""},
		{"too deep", func(t *testing.T, dir string) { plant(t, dir, strings.Repeat("d/", stage.DefaultDepth)+"f") }, runtime.Workspace{}, runtime.ErrDenied, "deeper"},
		{"absent", func(t *testing.T, dir string) {
			if err := os.Remove(dir); err != nil {
				t.Fatal(err)
			}
		}, runtime.Workspace{}, fs.ErrNotExist, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := filepath.Join(t.TempDir(), "s")
			if err := os.Mkdir(src, 0o755); err != nil {
				t.Fatal(err)
			}
			tt.plant(t, src)
			tt.w.Source = src
			_, _, err := take(t, t.Context(), tt.w)
			if !errors.Is(err, tt.kind) || tt.kind == nil && err != nil {
				t.Fatalf("err = %v, want %v", err, tt.kind)
			}
			var f *runtime.Failure
			if err != nil && (!errors.As(err, &f) || f.Step != runtime.StepStage || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("%v does not say %q", err, tt.says)
			}
		})
	}
}

func TestASnapshotEndsWithItsContext(t *testing.T) {
	src := t.TempDir()
	plant(t, src, "a", "b")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the caller gave up")
	cancel(why)
	if _, _, err := take(t, ctx, runtime.Workspace{Source: src}); !errors.Is(err, why) || !errors.Is(err, runtime.ErrSetup) {
		t.Errorf("err = %v", err)
	}
}

func TestASnapshotNeverReplacesAnything(t *testing.T) {
	src, dir := t.TempDir(), t.TempDir()
	plant(t, src, "a")
	plant(t, dir, "mine")
	if _, err := stage.New().Snapshot(t.Context(), runtime.Workspace{Source: src}, dir); !errors.Is(err, fs.ErrExist) || !errors.Is(err, runtime.ErrSetup) {
		t.Errorf("err = %v", err)
	}
	if got := listTree(t, dir); !slices.Equal(got, []string{"mine"}) {
		t.Errorf("the directory holds %q", got)
	}
}
