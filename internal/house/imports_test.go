package house

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/sbxkit/sbxkit"

// rooms says what each room may import of this module and of others. A room's name is a path below the module, or a prefix that ends
// in /...; the longest match counts. External imports are prefixes of import paths; the standard library is always allowed.
var rooms = []struct {
	room     string
	own      []string
	external []string
}{
	{"spec", nil, []string{"go.yaml.in/yaml/v4", "github.com/google/jsonschema-go"}},
	{"gen", []string{"spec"}, []string{"github.com/dave/jennifer", "golang.org/x/tools", "github.com/pmezard/go-difflib", "github.com/google/renameio"}},
	{"generated/bwrap", []string{"runtime", "runtime/process"}, nil},
	{"generated/local", []string{"runtime", "runtime/process"}, nil},
	{"generated/docker", []string{"runtime", "runtime/engine"}, nil},
	{"generated/podman", []string{"runtime", "runtime/engine"}, nil},
	{"generated/fake", []string{"runtime", "runtime/script"}, nil},
	{"runtime", nil, []string{"golang.org/x/sys"}},
	{"runtime/mounts", []string{"runtime"}, nil},
	{"runtime/mounts/...", []string{"runtime", "runtime/mounts"}, nil},
	{"runtime/attest", []string{"runtime"}, []string{"golang.org/x/sys", "github.com/prometheus/procfs", "github.com/moby/sys/mountinfo"}},
	{"runtime/cgroup", []string{"runtime"}, []string{"golang.org/x/sys", "github.com/moby/sys/mountinfo", "github.com/containerd/cgroups", "github.com/opencontainers/runtime-spec"}},
	{"runtime/stage", []string{"runtime"}, []string{"golang.org/x/sys"}},
	{"runtime/process", []string{"runtime", "runtime/mounts", "runtime/attest", "runtime/cgroup", "runtime/stage"}, []string{"golang.org/x/sys", "github.com/prometheus/procfs", "github.com/elastic/go-seccomp-bpf", "golang.org/x/net/bpf", "github.com/creack/pty"}},
	{"runtime/process/...", []string{"runtime", "runtime/process/..."}, []string{"golang.org/x/sys", "github.com/elastic/go-seccomp-bpf", "golang.org/x/net/bpf"}},
	{"runtime/engine", []string{"runtime", "runtime/mounts", "runtime/attest", "runtime/stage"}, []string{"github.com/docker/", "github.com/containerd/errdefs", "github.com/opencontainers/", "github.com/moby/", "golang.org/x/sys"}},
	{"runtime/engine/...", []string{"runtime", "runtime/engine"}, []string{"github.com/docker/", "github.com/containerd/errdefs", "github.com/opencontainers/", "github.com/moby/", "golang.org/x/sys"}},
	{"runtime/script", []string{"runtime", "runtime/mounts", "runtime/stage"}, nil},
	{"runtime/journal", []string{"runtime"}, []string{"github.com/gofrs/flock", "github.com/google/renameio", "golang.org/x/sys"}},
	{"runtime/sbxtest", []string{"runtime"}, nil},
	{"runtime/sbxtest/...", []string{"runtime", "runtime/sbxtest"}, nil},
	{"runtime/observe/...", []string{"runtime"}, []string{"go.opentelemetry.io/otel"}},
	{"analyzers", []string{"analyzers/..."}, []string{"golang.org/x/tools"}},
	{"analyzers/...", []string{"analyzers/..."}, []string{"golang.org/x/tools", "golang.org/x/mod", "go.yaml.in/yaml/v4", "github.com/golangci/plugin-module-register", "github.com/owenrumney/go-sarif"}},
	{"cmd/sbxgen", []string{"spec", "gen"}, []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/pmezard/go-difflib", "golang.org/x/tools"}},
	{"cmd/sbxvet", []string{"spec", "analyzers/...", "cmd/sbxvet/..."}, []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/tools", "golang.org/x/mod", "github.com/owenrumney/go-sarif", "go.yaml.in/yaml/v4"}},
	{"cmd/sbxvet/...", []string{"spec", "analyzers/...", "cmd/sbxvet/..."}, []string{"golang.org/x/tools", "github.com/owenrumney/go-sarif", "go.yaml.in/yaml/v4"}},
	{"cmd/sbxctl", []string{"spec", "runtime", "runtime/...", "generated/..."}, []string{"github.com/spf13/cobra", "github.com/spf13/pflag"}},
	{"examples/...", []string{"runtime", "runtime/...", "generated/...", "examples/..."}, nil},
	{"internal/...", []string{"..."}, []string{"..."}},
	{"hack/...", []string{"..."}, []string{"..."}},
	{"testdata/...", []string{"testdata/..."}, []string{"..."}},
}

type pkg struct {
	ImportPath string
	Imports    []string
	Standard   bool
	Deps       []string
	Module     *struct{ Path string }
}

func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Standard,Deps,Module"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		var e *exec.ExitError
		if errors.As(err, &e) {
			t.Fatalf("go list: %v\n%s", err, e.Stderr)
		}
		t.Fatal(err)
	}
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// under reports whether a path below the module is in a room.
func under(room, path string) bool {
	if room == "..." {
		return true
	}
	if prefix, ok := strings.CutSuffix(room, "/..."); ok {
		return path == prefix || strings.HasPrefix(path, prefix+"/")
	}
	return path == room
}

func TestEveryRoomImportsOnlyWhatItMay(t *testing.T) {
	all := list(t, "./...")
	if len(all) < 5 {
		t.Fatalf("go list found %d packages", len(all))
	}
	for _, p := range all {
		path := strings.TrimPrefix(p.ImportPath, module+"/")
		best := -1
		for i, r := range rooms {
			if r.room == path {
				best = i
				break
			}
			if under(r.room, path) && (best < 0 || len(r.room) > len(rooms[best].room)) {
				best = i
			}
		}
		if best < 0 {
			t.Errorf("%s is in no room: add it to the table in this file, with what it may import", path)
			continue
		}
		room := rooms[best]
		for _, i := range p.Imports {
			first, _, _ := strings.Cut(i, "/")
			own, isOwn := strings.CutPrefix(i, module+"/")
			switch {
			case isOwn:
				if !slices.ContainsFunc(room.own, func(r string) bool { return under(r, own) }) {
					t.Errorf("%s imports %s, which the room %s may not", path, own, room.room)
				}
			case strings.Contains(first, "."):
				if !slices.ContainsFunc(room.external, func(e string) bool { return e == "..." || strings.HasPrefix(i, e) }) {
					t.Errorf("%s imports %s, which the room %s may not", path, i, room.room)
				}
			}
		}
	}
}

func TestABwrapExecutorDoesNotPullInTheEngineClient(t *testing.T) {
	for _, p := range list(t, "-deps", module+"/generated/bwrap") {
		if strings.HasPrefix(p.ImportPath, "github.com/docker/docker") {
			t.Errorf("generated/bwrap pulls in %s", p.ImportPath)
		}
	}
}

func TestTheGeneratorDoesNotNeedWhatItGenerates(t *testing.T) {
	for _, p := range list(t, "-deps", module+"/cmd/sbxgen") {
		if strings.HasPrefix(p.ImportPath, module+"/generated/") || strings.HasPrefix(p.ImportPath, module+"/runtime") {
			t.Errorf("cmd/sbxgen pulls in %s, so a broken output would block the generator that mends it", p.ImportPath)
		}
	}
}
