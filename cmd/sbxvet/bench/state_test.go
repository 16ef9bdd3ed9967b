//go:build unix

package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/internal/codebase"
)

// The states of the go command's cache from which a side starts. A side never has anything of another's.

// Cold: everything is compiled, nothing is vetted. It is what a first run costs beside a build or a test, and leaves the compiler out,
// which is the same for all sides.
func cold(b *testing.B, built string) func(side) string {
	return func(side) string { return branch(b, built) }
}

// Empty: as on a fresh machine. Both sides compile the same packages first, which is most of it.
func empty(b *testing.B) func(side) string {
	return func(side) string { return b.TempDir() }
}

// Warm: all is as in the last run.
func warm(b *testing.B, built string, base *codebase.Base) func(side) string {
	caches := make(map[string]string)
	return func(s side) string {
		if caches[s.name] == "" {
			caches[s.name] = branch(b, built)
			if _, err := vet(b.Context(), base, s, caches[s.name]); err != nil {
				b.Fatal(err)
			}
		}
		return caches[s.name]
	}
}

// branch returns a new cache that holds what another holds. Its files are the same ones: the go command adds to a cache and does not
// change what is there.
func branch(b *testing.B, cache string) string {
	dir := b.TempDir()
	err := filepath.WalkDir(cache, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(cache, path)
		if err != nil || rel == "." {
			return err
		}
		if d.IsDir() {
			return os.Mkdir(filepath.Join(dir, rel), 0o777)
		}
		return os.Link(path, filepath.Join(dir, rel))
	})
	if err != nil {
		b.Fatal(err)
	}
	return dir
}

// idle makes this test binary a vet tool that does nothing.
const idle = "SBXVET_BENCH_IDLE"

// compile fills the cache with what vetting needs of the compiler, by having a tool vet that does nothing.
func compile(ctx context.Context, base *codebase.Base, cache string) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding the test's own file: %w", err)
	}
	cmd := base.Command(ctx, "go", "vet", "-vettool="+self, "./...")
	cmd.Env = append(cmd.Env, "GOCACHE="+cache, idle+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("compiling %s: %w\n%s", base.Module, err, out)
	}
	return nil
}

func TestMain(m *testing.M) {
	if os.Getenv(idle) == "" {
		os.Exit(m.Run())
	}
	if err := beIdle(os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func beIdle(arg string) error {
	switch {
	case arg == "-V=full":
		fmt.Printf("%s version devel buildID=idle\n", os.Args[0])
		return nil
	case arg == "-flags":
		fmt.Println("[]")
		return nil
	case !strings.HasSuffix(arg, ".cfg"):
		return fmt.Errorf("what is to be done with %q?", arg)
	}
	data, err := os.ReadFile(arg)
	if err != nil {
		return err
	}
	var cfg struct{ VetxOutput string }
	if err := json.Unmarshal(data, &cfg); err != nil {
		return err
	}
	return os.WriteFile(cfg.VetxOutput, nil, 0o666)
}
