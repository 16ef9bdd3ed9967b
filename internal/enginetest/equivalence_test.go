//go:build linux

package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	sbx "github.com/sbxkit/sbxkit/runtime"
	driver "github.com/sbxkit/sbxkit/runtime/engine"
	"github.com/sbxkit/sbxkit/runtime/sbxtest"
	"github.com/sbxkit/sbxkit/runtime/stage"
)

// place is the ground that the pinned launches stand on, on this host.
type place struct{ project, data, socket string }

func newPlace(t *testing.T) place {
	t.Helper()
	dir, err := os.MkdirTemp("", "sbx") // not t.TempDir: a socket's path has at most 107 bytes (unix(7))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := place{filepath.Join(dir, "project"), filepath.Join(dir, "data"), filepath.Join(dir, "proxy.sock")}
	for _, d := range []string{p.project, p.data, filepath.Join(p.data, "tmp")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", p.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return p
}

// adapt puts what this host has in the place of what the pinned launches name: paths, an image, a device, CPUs.
func (p place) adapt(l sbx.Launch, image string) sbx.Launch {
	here := map[string]string{"/home/caller/project": p.project, "/srv/data": p.data, "/run/proxy.sock": p.socket, "/dev/fuse": "/dev/null"}
	swap := func(s *string) {
		if to, ok := here[*s]; ok {
			*s = to
		}
	}
	l.Image.Ref = image
	if l.Image.Platform != "" {
		l.Image.Platform = "linux/" + goruntime.GOARCH
	}
	if w := l.Workspace; w != nil {
		c := *w
		swap(&c.Source)
		l.Workspace = &c
	}
	l.Mounts = slices.Clone(l.Mounts)
	for i := range l.Mounts {
		if l.Mounts[i].Kind != sbx.MountSymlink {
			swap(&l.Mounts[i].Source)
		}
	}
	swap(&l.Network.Socket)
	if l.Limits.CPUSet != "" && goruntime.NumCPU() < 2 {
		l.Limits.CPUSet = "0"
	}
	return l
}

// difference is a field that two containers have in different ways, with a place for what names the container itself.
type difference struct{ launch, field, words, request string }

// TestTheWordsAndTheRequestMakeTheSameContainer makes each pinned launch's container twice: by the printed words, read by a shell, with
// create in the place of run; and by a run's own first steps. Neither is started. What the engine says of the two is the same, field by
// field, save for the differences that are named with their reason; one that does not occur is not named.
func TestTheWordsAndTheRequestMakeTheSameContainer(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		t.Parallel()
		at := newPlace(t)
		made := &leftovers{}
		t.Cleanup(func() { made.remove(t, e) })
		b, err := e.backend(e.host)
		if err != nil {
			t.Fatal(err)
		}
		box, err := sbx.New(b, sbx.WithEnviron(sbxtest.Environ), sbx.WithStager(stage.New()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := box.Close(); err != nil {
				t.Error(err)
			}
		})
		var mu sync.Mutex
		occurred := map[exception]bool{}
		compared := 0
		t.Run("launches", func(t *testing.T) {
			for name, l := range sbxtest.Launches(b.Describe()) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					differ, refused := e.compare(t, box, b, made, name, at.adapt(l, e.image))
					if refused != nil {
						t.Logf("no container either way: %v", refused)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					compared++
					for _, d := range differ {
						i := slices.IndexFunc(exceptions, func(x exception) bool { return x.covers(e.program, d) })
						if i < 0 {
							t.Errorf("%s: by the words %s, by the request %s", d.field, d.words, d.request)
							continue
						}
						occurred[exceptions[i]] = true
					}
				})
			}
		})
		t.Logf("%d launches compared", compared)
		if compared < 40 {
			t.Errorf("only %d launches have a container to compare", compared)
		}
		for _, x := range exceptions {
			if x.engine == e.program && !occurred[x] {
				t.Errorf("the exception for %s (%s) does not occur", x.field, x.because)
			}
		}
	}, driver.ViaAPI)
}

// compare makes both containers of a launch. A launch that is refused has none.
func (e engine) compare(t *testing.T, box *sbx.Sandbox, b sbx.Backend, left *leftovers, name string, l sbx.Launch) (differ []difference, refused error) {
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	var plans [2]*sbx.Plan
	for i := range plans {
		p, err := box.Plan(ctx, l)
		if errors.Is(err, sbx.ErrUnsupported) || errors.Is(err, sbx.ErrDenied) {
			return nil, err
		}
		if err != nil {
			t.Fatal(err)
		}
		plans[i] = p
	}
	if plans[0].Digest() != plans[1].Digest() {
		t.Errorf("two plans of one launch: %s and %s", plans[0].Digest(), plans[1].Digest())
	}
	wrong := e.byWords(ctx, t, left, plans[0])
	made, err := b.Prepare(ctx, plans[1])
	if err == nil {
		defer func() {
			ctx, cancel := context.WithTimeout(context.Background(), deadline)
			defer cancel()
			if _, err := made.Remove(ctx); err != nil {
				t.Error(err)
			}
		}()
	}
	if errors.Is(err, sbx.ErrUnsupported) {
		return nil, err // words alone cannot know what the engine lacks
	}
	if wrong != nil && err != nil {
		return nil, fmt.Errorf("by the words: %w; by the request: %w", wrong, err)
	}
	if wrong != nil || err != nil {
		t.Fatalf("by the words: %v; by the request: %v", wrong, err)
	}
	for form, path := range forms[e.program] {
		words, request := e.describe(ctx, t, path, plans[0]), e.describe(ctx, t, path, plans[1])
		for _, field := range slices.Sorted(maps.Keys(words)) {
			if _, ok := request[field]; !ok {
				request[field] = "(absent)"
			}
		}
		for _, field := range slices.Sorted(maps.Keys(request)) {
			w, ok := words[field]
			if !ok {
				w = "(absent)"
			}
			if w != request[field] {
				differ = append(differ, difference{name, form + ":" + field, w, request[field]})
			}
		}
	}
	return differ, nil
}

// byWords makes the container of a plan by its printed words, and before it what a run makes of its own accord.
func (e engine) byWords(ctx context.Context, t *testing.T, left *leftovers, p *sbx.Plan) error {
	t.Helper()
	for _, n := range p.Token.Networks {
		if _, err := e.ask(ctx, "network", "create", n); err != nil {
			t.Fatal(err)
		}
		left.add(&left.networks, n)
	}
	program, err := exec.LookPath(e.program)
	if err != nil {
		t.Fatal(err)
	}
	text := p.String()
	if strings.Count(text, " "+e.program+" run ") != 1 {
		t.Fatalf("not one run of %s: %s", e.program, text)
	}
	// The program by its path: the words may set another PATH for it.
	//
	//sbx:allow rawshell the printed line is for a person's shell
	shell := exec.CommandContext(ctx, "/bin/sh", "-c", strings.Replace(text, " "+e.program+" run ", " "+program+" create ", 1))
	shell.Env = reader()
	for _, v := range p.Environment {
		if !v.Public { // what the words take from their reader's environment
			shell.Env = append(shell.Env, v.Name+"="+v.Value)
		}
	}
	if out, err := shell.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", text, err, out)
	}
	left.add(&left.containers, p.Token.Name)
	left.add(&left.volumes, p.Token.Volumes...)
	return nil
}

// leftovers are what was made by words. All of it is removed at once, since a program's start takes longer than a removal.
type leftovers struct {
	mu                            sync.Mutex
	containers, volumes, networks []string
}

func (l *leftovers) add(to *[]string, names ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*to = append(*to, names...)
}

func (l *leftovers) remove(t *testing.T, e engine) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	for _, r := range []struct{ words, names []string }{
		{[]string{"rm", "--force", "--volumes"}, l.containers}, {[]string{"volume", "rm"}, l.volumes}, {[]string{"network", "rm"}, l.networks},
	} {
		if len(r.names) == 0 {
			continue
		}
		if _, err := e.ask(ctx, append(r.words, r.names...)...); err != nil {
			t.Error(err)
		}
	}
}

// forms are the places of a container's description, by the name of the form. Podman has one that says more than Docker's.
var forms = map[string]map[string]string{
	"docker": {"docker": "/containers/%s/json"}, "podman": {"docker": "/containers/%s/json", "libpod": "/v4.0.0/libpod/containers/%s/json"},
}

// describe gives what the engine says of a plan's container, by field. The names and ids of the container and its run are replaced.
func (e engine) describe(ctx context.Context, t *testing.T, path string, p *sbx.Plan) map[string]string {
	t.Helper()
	var v map[string]any
	if err := e.read(ctx, fmt.Sprintf(path, p.Token.Name), &v); err != nil {
		t.Fatal(err)
	}
	id, _ := v["Id"].(string)
	if len(id) < 12 {
		t.Fatalf("the container has the id %q", id)
	}
	same := strings.NewReplacer(p.Request.Run.ID, "{run}", id, "{id}", id[:12], "{id}")
	fields := map[string]string{}
	flatten(fields, "", v, same)
	return fields
}

// flatten writes a JSON value's leaves by their path. A list stands as a whole, in the order it has, unless that means nothing; no list, an
// empty one and an empty object are the same: nothing.
func flatten(into map[string]string, at string, v any, same *strings.Replacer) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			flatten(into, strings.TrimPrefix(at+"."+same.Replace(name), "."), inner, same)
		}
	case []any:
		items := make([]string, len(v))
		for i, item := range v {
			b, err := json.Marshal(item)
			if err != nil {
				b = []byte(err.Error())
			}
			items[i] = same.Replace(string(b))
		}
		if slices.Contains(unordered, at) {
			slices.Sort(items)
		}
		if len(items) != 0 {
			into[at] = strings.Join(items, " ")
		}
	case nil:
	default:
		into[at] = same.Replace(fmt.Sprintf("%#v", v))
	}
}

// unordered are the lists whose order says nothing: each entry is of another name.
var unordered = []string{"Config.Env", "HostConfig.Ulimits"}
