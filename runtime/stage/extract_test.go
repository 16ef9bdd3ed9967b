package stage_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/stage"
)

// item is an entry of a test's archive; the type is a regular file where none is said.
type item struct {
	name, link, data string
	kind             byte
	mode             int64
	size             int64 // where it is not that of data
}

func file(name, data string) item { return item{name: name, data: data, mode: 0o644} }
func folder(name string) item     { return item{name: name + "/", kind: tar.TypeDir, mode: 0o755} }
func soft(name, text string) item {
	return item{name: name, link: text, kind: tar.TypeSymlink, mode: 0o777}
}
func hard(name, old string) item { return item{name: name, link: old, kind: tar.TypeLink, mode: 0o644} }

// archive writes a tar archive by hand where archive/tar would refuse to.
func archive(t testing.TB, items ...item) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, i := range items {
		h := &tar.Header{Name: i.name, Linkname: i.link, Typeflag: i.kind, Mode: i.mode, Size: int64(len(i.data))}
		if i.kind == 0 {
			h.Typeflag = tar.TypeReg
		}
		if i.kind == tar.TypeXGlobalHeader {
			h = &tar.Header{Typeflag: i.kind, PAXRecords: map[string]string{"comment": "c"}}
		}
		if i.size != 0 {
			h.Size = i.size
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, i.data); err != nil {
			t.Fatal(err)
		}
		if i.size != 0 {
			return b.Bytes() // promises more than it has
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// extract unpacks archives into a new directory beside a file that must never change.
func extract(t testing.TB, a runtime.Artifacts, archives ...[]byte) (dir string, m *runtime.Manifest, err error) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "export")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, "outside"), []byte("untouched"), 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := stage.NewExtractor(dir, a)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range archives {
		if err = x.Extract(t.Context(), ".", bytes.NewReader(b)); err != nil {
			break
		}
	}
	m, ferr := x.Finish()
	if err == nil {
		err = ferr
	}
	if cerr := x.Close(); cerr != nil {
		t.Errorf("closing: %v", cerr)
	}
	if cerr := x.Close(); cerr != nil {
		t.Errorf("closing again: %v", cerr)
	}
	left, rerr := os.ReadDir(top)
	outside, oerr := os.ReadFile(filepath.Join(top, "outside"))
	if rerr != nil || oerr != nil || len(left) != 2 || string(outside) != "untouched" {
		t.Fatalf("beside the export: %v, %v, %q, %v", left, rerr, outside, oerr)
	}
	return dir, m, err
}

func TestAWholeExport(t *testing.T) {
	dir, m, err := extract(t, runtime.Artifacts{Files: 11, Bytes: 17, Depth: 3},
		archive(t, item{kind: tar.TypeXGlobalHeader}, item{name: "./", kind: tar.TypeDir, mode: 0o700}, folder("out"), file("out/a", "alpha"), file("./b", ""),
			item{name: "out/run", data: "x", mode: 0o1755}, soft("out/link", "../b"), soft("up", "out/../out/none"), hard("again", "out/a"),
			item{name: "out/secret", data: "k", mode: 0}),
		archive(t, file("deep/er/c", "gamma")))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range m.Files {
		got = append(got, fmt.Sprintf("%s %v %d %s", f.Path, fs.FileMode(f.Mode), f.Size, f.Link))
	}
	want := []string{
		"again -rw-r--r-- 5 ", "b -rw-r--r-- 0 ", "deep drwxr-xr-x 0 ", "deep/er drwxr-xr-x 0 ", "deep/er/c -rw-r--r-- 5 ", "out drwxr-xr-x 0 ",
		"out/a -rw-r--r-- 5 ", "out/link Lrwxrwxrwx 0 ../b", "out/run -rwxr-xr-x 1 ", "out/secret ---------- 1 ", "up Lrwxrwxrwx 0 out/../out/none",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("manifest:\n%s", strings.Join(got, "\n"))
	}
	if !m.Whole || m.Bytes != 17 || m.Digest != runtime.DigestManifest(m.Files) || !strings.HasPrefix(m.Digest, "sha256:") {
		t.Errorf("manifest: whole %v, %d bytes, digest %s", m.Whole, m.Bytes, m.Digest)
	}
	for name, want := range map[string]string{"again": "alpha", "out/link": "", "out/secret": "k", "deep/er/c": "gamma"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(data) != want {
			t.Errorf("%s holds %q, %v", name, data, err)
		}
	}
}

func TestWhatIsRefusedLeavesNothing(t *testing.T) {
	long := strings.Repeat("n", 300)
	deep := strings.Repeat("d/", stage.DefaultDepth)
	tests := []struct {
		name  string
		items []item
		says  string
	}{
		{"parent", []item{file("../x", "")}, "leads out"},
		{"parent in the middle", []item{file("a/../../x", "")}, "leads out"},
		{"parent that stays", []item{file("a/../x", "")}, "leads out"},
		{"absolute", []item{file("/etc/x", "")}, "absolute"},
		{"absolute link", []item{soft("l", "/etc/passwd")}, "/etc/passwd"},
		{"link out", []item{soft("l", "../x")}, "leads out"},
		{"link out from below", []item{folder("a"), soft("a/l", "../../outside")}, "leads out"},
		{"link out through a link", []item{folder("p"), folder("p/q"), soft("p/q/d", "../.."), soft("l", "p/q/d/../outside")}, "leads out"},
		{"link out through a link that comes later", []item{soft("l", "p/q/d/../outside"), folder("p"), folder("p/q"), soft("p/q/d", "../..")}, "leads out"},
		{"below a link", []item{soft("l", "."), file("l/x", "")}, "below"},
		{"below a link that would lead out", []item{soft("l", ".."), file("l/outside", "gone")}, "below"},
		{"below a file", []item{file("f", ""), file("f/x", "")}, "below"},
		{"over a link", []item{soft("l", "x"), file("l", "gone")}, "twice"},
		{"file twice", []item{file("f", "1"), file("f", "2")}, "twice"},
		{"file twice by another spelling", []item{file("f", "1"), file(".//f", "2")}, "twice"},
		{"directory over a file", []item{file("f", ""), folder("f")}, "twice"},
		{"link without text", []item{soft("l", "")}, "nothing"},
		{"hard link out", []item{hard("h", "../outside")}, "out of the tree"},
		{"hard link to an absolute path", []item{hard("h", "/etc/passwd")}, "out of the tree"},
		{"hard link to nothing", []item{hard("h", "none")}, "no file of this tree"},
		{"hard link to a link", []item{soft("l", "f"), hard("h", "l")}, "no file of this tree"},
		{"hard link to a directory", []item{folder("d"), hard("h", "d")}, "no file of this tree"},
		{"hard links of a large file", []item{file("f", strings.Repeat("x", 1000)), hard("g", "f"), hard("h", "f")}, "bytes"},
		{"set-user-id", []item{{name: "f", mode: 0o4755}}, "set-user-id"},
		{"set-group-id", []item{{name: "f", mode: 0o2755}}, "set-group-id"},
		{"character device", []item{{name: "f", kind: tar.TypeChar}}, "neither"},
		{"block device", []item{{name: "f", kind: tar.TypeBlock}}, "neither"},
		{"FIFO", []item{{name: "f", kind: tar.TypeFifo}}, "neither"},
		{"unknown type", []item{{name: "f", kind: 'Z'}}, "neither"},
		{"too many files", []item{file("1", ""), file("2", ""), file("3", ""), file("4", ""), file("5", ""), file("6", "")}, "files"},
		{"too many parents", []item{file("1/2/3/4/5/6", "")}, "files"},
		{"too many headers that are none", []item{{kind: 'g'}, {kind: 'g'}, {kind: 'g'}, {kind: 'g'}, {kind: 'g'}, {kind: 'g'}}, "files"},
		{"too many bytes", []item{file("f", strings.Repeat("x", 1500)), file("g", strings.Repeat("x", 1501))}, "bytes"},
		{"too many bytes promised", []item{{name: "f", size: 1 << 50, mode: 0o644}}, "bytes"},
		{"too deep", []item{file(deep+"f", "")}, "deeper"},
		{"name too long", []item{file(long, "")}, "long"},
		{"no name", []item{file("", "x")}, ""},
		{"file as the root", []item{file(".", "x")}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, m, err := extract(t, runtime.Artifacts{Files: 5, Bytes: 2500}, archive(t, append([]item{file("first", "kept?")}, tt.items...)...))
			if err == nil {
				t.Fatalf("extracted: %v", m.Files)
			}
			var f *runtime.Failure
			if !errors.As(err, &f) || f.Kind != runtime.Denied || f.Step != runtime.StepExport {
				t.Errorf("%v is not Denied at the export", err)
			}
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v does not say %q", err, tt.says)
			}
			if m.Whole {
				t.Error("the manifest says whole")
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
				t.Errorf("left in the export: %v, %v", left, err)
			}
		})
	}
}

func TestAnArchiveCutOffAnywhereIsNotWhole(t *testing.T) {
	whole := archive(t, folder("d"), file("d/f", "content"), file("zeros", strings.Repeat("\x00", 4096)), file("last", strings.Repeat("\x00", 513)))
	for cut := 0; cut < len(whole); cut += 256 {
		dir, m, err := extract(t, runtime.Artifacts{}, whole[:cut])
		if err == nil || m.Whole {
			t.Fatalf("cut at %d of %d: taken for whole", cut, len(whole))
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, runtime.ErrSetup) {
			t.Errorf("cut at %d: %v", cut, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("cut at %d: left %v, %v", cut, left, err)
		}
	}
	if _, m, err := extract(t, runtime.Artifacts{}, append(whole, make([]byte, 10<<10)...)); err != nil || !m.Whole {
		t.Errorf("padded by the writer's blocks: %v", err)
	}
}

// stuck gives its bytes and then blocks until it is closed.
type stuck struct {
	io.Reader
	closed chan struct{}
}

func (s *stuck) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		<-s.closed
		return 0, fs.ErrClosed
	}
	return n, err
}

func (s *stuck) Close() error {
	close(s.closed)
	return nil
}

func TestTheContextEndsAnArchiveThatHangs(t *testing.T) {
	dir := t.TempDir()
	x, err := stage.NewExtractor(dir, runtime.Artifacts{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	body := &stuck{bytes.NewReader(archive(t, file("f", "x"))[:700]), make(chan struct{})}
	if err := x.Extract(ctx, ".", body); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, runtime.ErrSetup) {
		t.Errorf("err = %v", err)
	}
	if err := x.Extract(t.Context(), ".", bytes.NewReader(archive(t))); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("going on after the end: %v", err)
	}
}

func TestTheReadersOwnErrorComesThrough(t *testing.T) {
	x, err := stage.NewExtractor(t.TempDir(), runtime.Artifacts{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	broken := errors.New("the engine went away")
	if err := x.Extract(t.Context(), ".", io.MultiReader(bytes.NewReader(archive(t, file("f", "x"))[:600]), errReader{broken})); !errors.Is(err, broken) {
		t.Errorf("err = %v", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

func TestAnExportNeedsAnEmptyDirectory(t *testing.T) {
	dir := t.TempDir()
	if _, err := stage.NewExtractor(filepath.Join(dir, "none"), runtime.Artifacts{}); !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, runtime.ErrSetup) {
		t.Errorf("absent: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := stage.NewExtractor(dir, runtime.Artifacts{}); !errors.Is(err, fs.ErrExist) || !errors.Is(err, runtime.ErrSetup) {
		t.Errorf("not empty: %v", err)
	}
}

func TestNothingIsExtractedAfterTheEnd(t *testing.T) {
	x, err := stage.NewExtractor(t.TempDir(), runtime.Artifacts{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if _, err := x.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := x.Extract(t.Context(), ".", bytes.NewReader(archive(t, file("f", "x")))); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("err = %v", err)
	}
}

func TestArchivesGoWhereTheyAreTold(t *testing.T) {
	dir := t.TempDir()
	x, err := stage.NewExtractor(dir, runtime.Artifacts{})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, at := range []string{"a/b", "c"} {
		if err := x.Extract(t.Context(), at, bytes.NewReader(archive(t, file("f", at), hard("g", "f")))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := x.Finish(); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "a/b/g")); err != nil || string(data) != "a/b" {
		t.Errorf("%q, %v", data, err)
	}
	for _, at := range []string{"..", "/a", "a/../..", ""} {
		y, err := stage.NewExtractor(t.TempDir(), runtime.Artifacts{})
		if err != nil {
			t.Fatal(err)
		}
		if err := y.Extract(t.Context(), at, bytes.NewReader(archive(t))); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("at %q: %v", at, err)
		}
		if err := y.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAnArchiveOfOneThingGetsTheNameItIsGiven(t *testing.T) {
	tests := []struct {
		name  string
		items []item
		want  []string // nil: refused
	}{
		{"a file", []item{file("tmp.1234", "x")}, []string{"a", "a/b"}},
		{"a directory", []item{folder("out"), file("out/f", "x"), hard("out/g", "out/f")}, []string{"a", "a/b", "a/b/f", "a/b/g"}},
		{"a directory that is called the root", []item{folder("."), file("./f", "x")}, []string{"a", "a/b", "a/b/f"}},
		{"the root itself", []item{folder(""), folder("/d"), file("/d/f", "x"), hard("/g", "/d/f")}, []string{"a", "a/b", "a/b/d", "a/b/d/f", "a/b/g"}},
		{"the root itself, and a name that leads out", []item{folder(""), file("/../x", "x")}, nil},
		{"an absolute name", []item{folder("/out"), file("/out/f", "x")}, nil},
		{"an absolute name after another", []item{folder("out"), file("/out/f", "x")}, nil},
		{"nothing", nil, nil},
		{"a second thing", []item{folder("out"), file("other", "x")}, nil},
		{"a second thing whose name begins alike", []item{folder("out"), file("outer", "x")}, nil},
		{"a name that leads out", []item{folder("out"), file("out/../../x", "x")}, nil},
		{"a hard link to a second thing", []item{folder("out"), file("out/f", ""), hard("out/g", "other")}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x, err := stage.NewExtractor(t.TempDir(), runtime.Artifacts{})
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			err = x.ExtractAs(t.Context(), "a/b", bytes.NewReader(archive(t, tt.items...)))
			if tt.want == nil {
				if !errors.Is(err, runtime.ErrDenied) {
					t.Errorf("err = %v", err)
				}
				return
			}
			m, ferr := x.Finish()
			var got []string
			for _, f := range m.Files {
				got = append(got, f.Path)
			}
			if err != nil || ferr != nil || !slices.Equal(got, tt.want) {
				t.Errorf("extracted %q, want %q; %v, %v", got, tt.want, err, ferr)
			}
		})
	}
}
