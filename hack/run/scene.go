//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// scene is what the jobs meet: a copy of this tree, and outside of it a file to read, a file to write and a listener to reach.
type scene struct {
	dir      string // everything of the scene
	tree     string // the repository
	files    int    // of Go in it, as counted here
	lines    int    // in them
	secret   string
	listener net.Listener
	reached  atomic.Int64
}

const planted = "planted-outside-the-workspace"

func newScene(tree string) (*scene, error) {
	tree, err := filepath.Abs(tree)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sbxkit-run-")
	if err != nil {
		return nil, err
	}
	s := &scene{dir: dir, tree: tree, secret: filepath.Join(dir, "outside")}
	if err := os.WriteFile(s.secret, []byte(planted+"\n"), 0o666); err != nil {
		return nil, err
	}
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	go func() {
		for {
			c, err := s.listener.Accept()
			if err != nil {
				return
			}
			s.reached.Add(1)
			_ = c.Close()
		}
	}()
	s.files, s.lines, err = countLines(tree)
	return s, err
}

func (s *scene) close() {
	_ = s.listener.Close()
	_ = os.RemoveAll(s.dir)
}

// goFiles calls f for each Go file of the tree, by its path relative to it; hidden directories are not part of it.
func goFiles(tree string, f func(rel string, text []byte) error) error {
	return filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != tree && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() || filepath.Ext(p) != ".go" {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(tree, p)
		if err != nil {
			return err
		}
		return f(rel, text)
	})
}

func countLines(tree string) (files, lines int, err error) {
	err = goFiles(tree, func(_ string, text []byte) error {
		files++
		lines += bytes.Count(text, []byte{'\n'})
		if len(text) > 0 && text[len(text)-1] != '\n' {
			lines++
		}
		return nil
	})
	return files, lines, err
}

// workspace copies the tree's Go files to a place of one backend's own.
func (s *scene) workspace(name string) (string, error) {
	dir := filepath.Join(s.dir, "workspace-"+name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	// Whatever user the command runs as inside, it writes its result here.
	if err := os.Chmod(dir, 0o777); err != nil {
		return "", err
	}
	return dir, goFiles(s.tree, func(rel string, text []byte) error {
		to := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o644)
	})
}

// count lets the sandbox count the lines and write the result into its workspace, and compares both with what was counted outside.
func (s *scene) count(ctx context.Context, box *sbx.Sandbox, l launcher, workspace string) (string, error) {
	var out, errs bytes.Buffer
	job := l("sbx-probe", "count-go-lines", ".", "RESULT")
	job.Stdout, job.Stderr = &out, &errs
	res, err := box.Run(ctx, job)
	if err != nil {
		return "", err
	}
	if !res.Success() {
		return "", fmt.Errorf("%s: %s", res, bytes.TrimSpace(errs.Bytes()))
	}
	written, err := os.ReadFile(filepath.Join(workspace, "RESULT"))
	if err != nil {
		return "", err
	}
	want := fmt.Sprintf("%d %d\n", s.files, s.lines)
	if out.String() != want || string(written) != want {
		return "", fmt.Errorf("%q was printed and %q written, where %q is right", out.String(), written, want)
	}
	return fmt.Sprintf("%d in %d files", s.lines, s.files), nil
}

// inside is where the program of every job stands in a sandbox.
const inside = "/opt/toolbox/toolbox"

// launcher makes a launch of the scene for one backend.
type launcher func(words ...string) sbx.Launch

// forbidden are the three jobs that must not succeed; each says whether it was contained, as seen from outside.
func (s *scene) forbidden() []func(context.Context, *sbx.Sandbox, launcher) (bool, error) {
	return []func(context.Context, *sbx.Sandbox, launcher) (bool, error){
		func(ctx context.Context, box *sbx.Sandbox, l launcher) (bool, error) {
			var out bytes.Buffer
			job := l("cat", s.secret)
			job.Stdout = &out
			res, err := box.Run(ctx, job)
			if err != nil {
				return false, err
			}
			return !res.Success() && !strings.Contains(out.String(), planted), nil
		},
		func(ctx context.Context, box *sbx.Sandbox, l launcher) (bool, error) {
			before := s.reached.Load()
			res, err := box.Run(ctx, l("sbx-probe", "connect", s.listener.Addr().String()))
			if err != nil {
				return false, err
			}
			return !res.Success() && s.reached.Load() == before, nil
		},
		func(ctx context.Context, box *sbx.Sandbox, l launcher) (bool, error) {
			res, err := box.Run(ctx, l("cp", "RESULT", s.secret))
			if err != nil {
				return false, err
			}
			got, err := os.ReadFile(s.secret)
			if err != nil {
				return false, err
			}
			if string(got) == planted+"\n" {
				return true, nil
			}
			fmt.Fprintf(os.Stderr, "the file outside was written: the command %s\n", res)
			return false, os.WriteFile(s.secret, []byte(planted+"\n"), 0o666)
		},
	}
}
