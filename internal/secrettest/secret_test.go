//go:build linux

// Package secrettest plants unique values as credentials and variables and searches for them wherever they must not be, on every backend
// of this host.
//
//sbx:seam its tests drive every real backend
package secrettest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/generated/bwrap"
	"github.com/sbxkit/sbxkit/generated/docker"
	"github.com/sbxkit/sbxkit/generated/local"
	"github.com/sbxkit/sbxkit/generated/podman"
	"github.com/sbxkit/sbxkit/internal/testhost"
	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
	"github.com/sbxkit/sbxkit/runtime/observe/sbxslog"
)

// canaries are the values that must stay hidden.
type canaries struct{ variable, forwarded, env, file string }

func plant() canaries {
	n := time.Now().UnixNano()
	return canaries{fmt.Sprintf("canary-var-%x", n), fmt.Sprintf("canary-fwd-%x", n), fmt.Sprintf("canary-env-%x", n), fmt.Sprintf("canary-file-%x", n)}
}

// in says which of the canaries stand in a text.
func (c canaries) in(text []byte) (found []string) {
	for _, v := range []string{c.variable, c.forwarded, c.env, c.file} {
		if bytes.Contains(text, []byte(v)) {
			found = append(found, v)
		}
	}
	return found
}

func TestNoValueIsWhereItMustNotBe(t *testing.T) {
	for name, make := range map[string]func(testing.TB) (sbx.Backend, error){
		"bwrap": func(t testing.TB) (sbx.Backend, error) { testhost.Bwrap(t); return bwrap.New(bwrap.Options{}) },
		"local": func(testing.TB) (sbx.Backend, error) { return local.New(local.Options{}) },
		"docker": func(t testing.TB) (sbx.Backend, error) {
			h, _ := testhost.Docker(t)
			return docker.New(docker.Options{Endpoint: h})
		},
		"podman": func(t testing.TB) (sbx.Backend, error) {
			h, _ := testhost.Podman(t)
			return podman.New(podman.Options{Endpoint: h})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := make(t)
			if err != nil {
				t.Fatal(err)
			}
			search(t, b)
		})
	}
}

func search(t *testing.T, b sbx.Backend) {
	c := plant()
	state := filepath.Join(t.TempDir(), "state")
	j, err := journal.Open(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	opts := []sbx.Option{
		sbx.WithJournal(j), sbx.WithEnviron(func() []string { return append(os.Environ(), "LANG="+c.forwarded) }),
		sbx.WithObserver(sbxslog.New(slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))),
	}
	if b.Describe().Unsandboxed {
		opts = append(opts, sbx.WithMode(sbx.Disabled), sbx.WithUnsandboxed(b))
		b = nil
	}
	box, err := sbx.New(b, opts...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	}()
	var out bytes.Buffer
	l := sbx.Launch{
		// The command shows that it got the values, and then waits to be looked at.
		Script: &sbx.Script{Interpreter: []string{"/bin/sh"}, Text: []byte(
			`echo "$CI $LANG $ANTHROPIC_API_KEY"; cat /run/sbx/credentials/git-read 2>/dev/null; echo; echo shown; while :; do sleep 1; done`)},
		Env:         sbx.Environment{Set: map[string]string{"CI": c.variable}},
		Credentials: map[string]sbx.Credential{"model-api": {Value: []byte(c.env)}},
		Stdout:      &out,
		Ready:       &sbx.Ready{Line: "shown"},
		Timeouts:    sbx.Timeouts{Start: 25 * time.Second},
	}
	if b != nil {
		l.Credentials["git-read"] = sbx.Credential{Value: []byte(c.file)}
		if b.Describe().Kind == "engine" {
			l.Image.Ref = os.Getenv("SBX_TEST_IMAGE")
		}
	}
	plan, err := box.Plan(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	look := func(where string, text []byte) {
		t.Helper()
		if found := c.in(text); len(found) > 0 {
			t.Errorf("%s shows %v", where, found)
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		look("a printed plan ("+verb+")", fmt.Appendf(nil, verb, plan))
	}
	text, err := plan.JSON()
	if err != nil {
		t.Fatal(err)
	}
	look("a plan's JSON", text)
	look("a plan's digest", []byte(plan.Digest()))

	run, err := box.Launch(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	look("the journal while it runs", readAll(t, state))
	for path, line := range commandLines(t) {
		look(path, line)
	}
	facts, err := json.Marshal(run.Facts())
	if err != nil {
		t.Fatal(err)
	}
	look("the facts", facts)
	token, err := json.Marshal(run.Token())
	if err != nil {
		t.Fatal(err)
	}
	look("the kill token", token)
	look("the labels", fmt.Appendf(nil, "%v", run.Plan().Request.Labels))
	res, err := run.Stop(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	text, err = json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	look("the result", text)
	look("the log", logged.Bytes())
	look("what is left of the state directory", readAll(t, state))
	for _, v := range []string{c.variable, c.forwarded, c.env} {
		if !strings.Contains(out.String(), v) {
			t.Errorf("the command did not get %s", v)
		}
	}
	if b != nil && !strings.Contains(out.String(), c.file) {
		t.Error("the command did not get the credential that is a file")
	}

	// Errors name what they are about, and not its value.
	for where, change := range map[string]func(*sbx.Launch){
		"a name that is not accepted": func(l *sbx.Launch) { l.Env.Set = map[string]string{"LD_PRELOAD": c.variable} },
		"a value that cannot be":      func(l *sbx.Launch) { l.Env.Set = map[string]string{"CI": c.variable + "\x00"} },
		"a credential that cannot be": func(l *sbx.Launch) {
			l.Credentials = map[string]sbx.Credential{"model-api": {Value: []byte(c.env + "\x00")}}
		},
		"a role that is not declared":   func(l *sbx.Launch) { l.Credentials = map[string]sbx.Credential{"none": {Value: []byte(c.env)}} },
		"a program that is not there":   func(l *sbx.Launch) { l.Script, l.Argv = nil, []string{"/no/such/program"} },
		"a workspace that is not there": func(l *sbx.Launch) { l.Workspace = &sbx.Workspace{Source: "/no/such/workspace"} },
	} {
		bad := l
		bad.Ready = nil
		change(&bad)
		_, err := box.Run(t.Context(), bad)
		if err == nil {
			t.Errorf("%s: no error", where)
			continue
		}
		look("the error of "+where, fmt.Appendf(nil, "%v %+v", err, err))
	}
	look("the log", logged.Bytes())
}

// readAll gives the names and contents of everything below a directory.
func readAll(t *testing.T, dir string) (all []byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		all = append(all, p...)
		if d.Type().IsRegular() {
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			all = append(all, b...)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// commandLines gives the argument vector of every process of this host.
func commandLines(t *testing.T) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(paths) < 2 {
		t.Fatalf("reading /proc: %d processes, %v", len(paths), err)
	}
	lines := map[string][]byte{}
	for _, p := range paths {
		if b, err := os.ReadFile(p); err == nil {
			lines[p] = b
		}
	}
	return lines
}
