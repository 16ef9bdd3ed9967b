package stage_test

import (
	"archive/tar"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

// FuzzExtract unpacks any bytes within small bounds: nothing outside the directory changes (extract looks), a failure is typed and leaves
// nothing, and a whole export is what its manifest says, with no way out of it.
func FuzzExtract(f *testing.F) {
	f.Add(archive(f, folder("d"), file("d/f", "content"), soft("l", "d/f"), hard("h", "d/f")))
	f.Add(archive(f, folder("p"), folder("p/q"), soft("p/q/d", "../.."), soft("l", "p/q/d/../x")))
	f.Add(archive(f, soft("l", ".."), file("l/outside", "gone")))
	f.Add(archive(f, item{kind: tar.TypeXGlobalHeader}, file("../outside", "gone")))
	f.Add(archive(f, file("f", strings.Repeat("x", 600)))[:1024])
	f.Add(archive(f, item{name: "c", kind: tar.TypeChar}, item{name: "s", mode: 0o4755}))
	f.Fuzz(func(t *testing.T, data []byte) {
		bounds := runtime.Artifacts{Files: 20, Bytes: 10_000, Depth: 8}
		dir, m, err := extract(t, bounds, data)
		if err != nil {
			var failure *runtime.Failure
			if !errors.As(err, &failure) || m.Whole {
				t.Fatalf("%v, whole %v", err, m.Whole)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
				t.Fatalf("left %v, %v", left, err)
			}
			return
		}
		checkExport(t, dir, m, bounds)
	})
}

func checkExport(t *testing.T, dir string, m *runtime.Manifest, bounds runtime.Artifacts) {
	if !m.Whole || int64(len(m.Files)) > bounds.Files || m.Bytes > bounds.Bytes {
		t.Fatalf("manifest %+v", m)
	}
	listed := map[string]runtime.ManifestEntry{}
	for _, e := range m.Files {
		listed[e.Path] = e
		if strings.Count(e.Path, "/") >= bounds.Depth {
			t.Fatalf("%q is too deep", e.Path)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	found := 0
	err = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		found++
		name, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		e, ok := listed[filepath.ToSlash(name)]
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !ok || info.Mode().Type() != fs.FileMode(e.Mode).Type() || info.Mode().IsRegular() && info.Size() != e.Size {
			t.Fatalf("%q is %v, %d bytes; the manifest says %+v", name, info.Mode(), info.Size(), e)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			// os.Root refuses a path that leaves it; the error has no other cause that means so.
			if _, err := root.Stat(name); err != nil && strings.Contains(err.Error(), "escapes") {
				t.Fatalf("%q -> %q leaves the export", name, e.Link)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found != len(m.Files) {
		t.Fatalf("%d entries, the manifest has %d", found, len(m.Files))
	}
}

// TestRandomTreesOfLinksNeverLeadOut makes links to links at random, where a wrong check of where they lead shows soonest.
func TestRandomTreesOfLinksNeverLeadOut(t *testing.T) {
	whole, refused := 0, 0
	for seed := range 400 {
		next := uint32(seed)*2654435761 + 1
		pick := func(n int) int {
			next = next*1664525 + 1013904223
			return int(next>>16) % n
		}
		parts := []string{"a", "b", "..", ".", "c"}
		var items []item
		for range 2 + pick(5) {
			name := []string{"a", "b", "c", "a/a", "a/b", "b/a", "a/b/c"}[pick(7)]
			switch pick(3) {
			case 0:
				items = append(items, folder(name))
			default:
				var text []string
				for range 1 + pick(4) {
					text = append(text, parts[pick(len(parts))])
				}
				items = append(items, soft(name, strings.Join(text, "/")))
			}
		}
		bounds := runtime.Artifacts{Files: 50, Bytes: 10, Depth: 5}
		dir, m, err := extract(t, bounds, archive(t, items...))
		if err != nil {
			refused++
			continue
		}
		whole++
		checkExport(t, dir, m, bounds)
	}
	if whole == 0 || refused == 0 {
		t.Errorf("%d whole, %d refused", whole, refused)
	}
	t.Logf("%d whole, %d refused", whole, refused)
}
