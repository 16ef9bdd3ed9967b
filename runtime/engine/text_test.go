package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

func TestWhatTheAPICannotCarryIsRefused(t *testing.T) {
	bind := func(source string) *runtime.Request {
		return &runtime.Request{Command: []string{"true"}, Mounts: []runtime.Mount{{Kind: runtime.MountBindRO, Source: source, Target: "/in", Origin: "workspace"}}}
	}
	for _, c := range []struct {
		name    string
		req     *runtime.Request
		engine  string
		feature string // empty: carried
	}{
		{"plain", bind("/a"), "Docker Engine", ""},
		{"comma on docker, which takes mounts as fields", bind("/a,b"), "Docker Engine", ""},
		{"comma on podman", bind("/a,ro=false"), "Podman Engine", "mount.bind-ro"},
		{"quote on podman", bind(`/a"b`), "Podman Engine", "mount.bind-ro"},
		{"line break on podman", bind("/a\nb"), "Podman Engine", "mount.bind-ro"},
		{"other letters", bind("/üñî"), "Podman Engine", ""},
		{"a path that is not UTF-8", bind("/a\xff"), "Docker Engine", "mount.bind-ro"},
		{"a word that is not UTF-8", &runtime.Request{Command: []string{"echo", "\xff"}}, "Docker Engine", "command"},
		{"a directory that is not UTF-8", &runtime.Request{Command: []string{"true"}, Dir: "/\xff"}, "Docker Engine", "workdir"},
		{"a label that is not UTF-8", &runtime.Request{Command: []string{"true"}, Labels: []runtime.Label{{Name: "a", Value: "\xff"}}}, "Docker Engine", "labels"},
		{"a value that is not UTF-8", &runtime.Request{Command: []string{"true"}, Env: []runtime.Variable{{Name: "A", Value: "canary\xff"}}}, "Docker Engine", "environment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := carried(c.req, runtime.Identity{Engine: c.engine})
			if c.feature == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var f *runtime.Failure
			if !errors.As(err, &f) || f.Kind != runtime.Unsupported || f.Feature != c.feature {
				t.Fatalf("got %v", err)
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error shows a value: %v", err)
			}
		})
	}
}

func TestAMaskThatWouldBeFilledIsRefused(t *testing.T) {
	r := &runtime.Request{Mounts: []runtime.Mount{{Kind: runtime.MountMaskDir, Target: "/in", Origin: "launch.Mounts[0]"}}}
	for _, c := range []struct {
		engine, options string
		fine            bool
	}{
		{"Docker Engine", "ro,size=4096", true},
		{podmanEngine, "ro,size=4096", false},
		{podmanEngine, "ro,tmpcopyup", false},
		{podmanEngine, "ro,notmpcopyup,size=4096", true},
	} {
		req := NewCreateRequest(r)
		req.HostConfig.Tmpfs = map[string]string{"/in": c.options}
		err := masking(r, req, runtime.Identity{Engine: c.engine})
		if c.fine != (err == nil) || err != nil && runtime.AsFailure(err, "").Feature != "mount.mask-dir" {
			t.Errorf("%s, %s: %v", c.engine, c.options, err)
		}
	}
}
