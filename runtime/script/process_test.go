package script_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/script"
)

func TestHealthComesInItsSequence(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, &script.Script{Do: []script.Action{script.Sleep(time.Hour)}, Health: []script.Health{
			{Status: "starting"}, {From: time.Minute, Status: "healthy"}, {From: 2 * time.Minute, Status: "unhealthy"},
		}})
		for _, want := range []string{"starting", "healthy", "unhealthy", "unhealthy"} {
			if got, err := r.proc.Health(t.Context()); got != want || err != nil {
				t.Errorf("health %q, %v; want %q", got, err, want)
			}
			time.Sleep(time.Minute)
		}
	})
}

func TestExecAnswersInOrderAndTheLastRepeats(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, &script.Script{Do: []script.Action{script.Sleep(time.Hour)}, Exec: []script.ExecAnswer{
			{Code: 1}, {Takes: time.Second, Err: syscall.EAGAIN}, {Code: 0},
		}})
		for n, want := range []struct {
			code int
			err  error
		}{{1, nil}, {-1, syscall.EAGAIN}, {0, nil}, {0, nil}} {
			if code, err := r.proc.Exec(t.Context(), []string{"ready", "now"}); code != want.code || !errors.Is(err, want.err) {
				t.Errorf("exec %d: %d, %v; want %d, %v", n, code, err, want.code, want.err)
			}
		}
		if got := r.record().Execs; len(got) != 4 || !slices.Equal(got[0], []string{"ready", "now"}) {
			t.Errorf("recorded %q", got)
		}
		r.wait()
		if _, err := r.proc.Exec(t.Context(), []string{"x"}); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("exec after the end: %v", err)
		}
	})
}

func TestWhatAScriptHasNoAnswerForIsUnsupported(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, steady())
		if err := r.proc.Resize(1, 1); !errors.Is(err, runtime.ErrUnsupported) {
			t.Errorf("Resize without a terminal: %v", err)
		}
		again := newBackend(t, r.b.World(), nil)
		res, err := again.Reopen(t.Context(), r.res.Token())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := res.Start(t.Context(), &r.start); !errors.Is(err, runtime.ErrUnsupported) {
			t.Errorf("Start of a reopened run: %v", err)
		}
		if _, err := res.Stage(t.Context(), &runtime.Stage{}); !errors.Is(err, runtime.ErrUnsupported) {
			t.Errorf("Stage of a reopened run: %v", err)
		}
		if _, err := res.Export(t.Context(), t.TempDir(), &runtime.Artifacts{}); !errors.Is(err, runtime.ErrUnsupported) {
			t.Errorf("Export of a reopened run: %v", err)
		}
	})
	bubble(t, func(t *testing.T) {
		r := start(t, &script.Script{Do: []script.Action{script.Hang()}})
		if _, err := r.proc.Exec(t.Context(), []string{"x"}); !errors.Is(err, runtime.ErrUnsupported) {
			t.Errorf("Exec without an answer: %v", err)
		}
	})
}

func TestPortsOpenWhenTheScriptSays(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := start(t, &script.Script{Do: []script.Action{script.Sleep(time.Hour)}, Ports: map[int]time.Duration{8080: time.Minute}})
		for _, p := range []int{8080, 22} {
			if _, err := r.proc.Dial(t.Context(), p); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("port %d: %v", p, err)
			}
		}
		time.Sleep(time.Minute)
		c, err := r.proc.Dial(t.Context(), 8080)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestHeartbeatAndNotifyReachTheDriver(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r, err := prepare(t, newBackend(t, nil, &script.Script{Do: []script.Action{
			script.Repeat(3, script.Sleep(time.Second), script.Beat()), script.Notify("READY=1"),
		}}), request(runID, ""))
		if err != nil {
			t.Fatal(err)
		}
		beats, notes := &buffer{}, &buffer{}
		r.start.Heartbeat, r.start.Notify = beats, notes
		if r.proc, err = r.res.Start(t.Context(), &r.start); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if beats.String() != "\n\n" || notes.String() != "" {
			t.Errorf("after 2 s: %q, %q", beats, notes)
		}
		r.wait()
		if beats.String() != "\n\n\n" || notes.String() != "READY=1" {
			t.Errorf("at the end: %q, %q", beats, notes)
		}
	})
}

func TestATerminalIsOneStreamAndCanBeResized(t *testing.T) {
	bubble(t, func(t *testing.T) {
		req := request(runID, "")
		req.Stdin = runtime.StdinNone
		req.Terminal = &runtime.Terminal{Columns: 80, Rows: 25}
		r := startOn(t, newBackend(t, nil, &script.Script{Do: []script.Action{script.Stdout("a"), script.Stderr("b"), script.Read("q")}}), req)
		if err := r.proc.Resize(132, 43); err != nil {
			t.Fatal(err)
		}
		if _, err := r.proc.Stdin().Write([]byte("q")); err != nil {
			t.Fatal(err)
		}
		r.wait()
		if r.out.String() != "ab" || r.err.String() != "" {
			t.Errorf("stdout %q, stderr %q", r.out, r.err)
		}
		if got := r.record().Sizes; len(got) != 1 || got[0] != [2]uint16{132, 43} {
			t.Errorf("sizes %v", got)
		}
	})
}

func TestImages(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBackend(t, nil, nil)
		f, err := b.Ensure(t.Context(), runtime.Image{Ref: "any", Pull: runtime.PullNever}, nil)
		if err != nil || f.Ref != "any" || f.ID == "" {
			t.Errorf("an open world: %+v, %v", f, err)
		}
		b.World().AddImage(runtime.ImageFacts{Ref: "known", ID: "sha256:1", User: "nobody"})
		if f, err = b.Ensure(t.Context(), runtime.Image{Ref: "known"}, nil); err != nil || f.User != "nobody" {
			t.Errorf("a known image: %+v, %v", f, err)
		}
		var failure *runtime.Failure
		if _, err = b.Ensure(t.Context(), runtime.Image{Ref: "any", Pull: runtime.PullNever}, nil); !errors.As(err, &failure) || failure.Kind != runtime.Setup || failure.Cure == "" {
			t.Errorf("an absent image: %v", err)
		}
		lines := 0
		if _, err = b.Ensure(t.Context(), runtime.Image{Ref: "known", Pull: runtime.PullAlways}, func(string) { lines++ }); err != nil || lines != 1 {
			t.Errorf("pulling: %v, %d lines", err, lines)
		}
	})
}

func TestPlanRefusesWhatTheIdentitySaysIsAbsent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		b := newBackend(t, nil, nil)
		req := request(runID, "")
		req.Asked = []string{"limits.memory"}
		id := runtime.Identity{Absent: []runtime.Absence{{Feature: "limits.memory", Why: "no cgroup", Cure: "run as root"}}}
		var f *runtime.Failure
		if _, err := b.Plan(runtime.PlanInput{Request: req, Identity: id}); !errors.As(err, &f) || f.Kind != runtime.Unsupported || f.Feature != "limits.memory" || f.Cure != "run as root" {
			t.Errorf("Plan: %v", err)
		}
	})
}

func TestExport(t *testing.T) {
	file := func(p, data string) script.Artifact { return script.Artifact{Path: p, Data: []byte(data)} }
	out := runtime.Artifacts{Paths: []string{"/workspace/out"}}
	tests := []struct {
		name  string
		files []script.Artifact
		stops int
		ask   runtime.Artifacts
		want  []string // paths of a whole manifest, nil for an export that is refused
		err   error    // what the refusal wraps, where it wraps something
	}{
		{"a tree below the workspace", []script.Artifact{file("/workspace/out/a", "1"), file("/workspace/out/b/c", "22"), file("/workspace/other", "x"), file("/workspace/outer", "x")},
			0, out, []string{"out", "out/a", "out/b", "out/b/c"}, nil},
		{"a path from the working directory", []script.Artifact{file("/workspace/out/a", "1")}, 0, runtime.Artifacts{Paths: []string{"out/a"}}, []string{"out", "out/a"}, nil},
		{"an absolute path elsewhere", []script.Artifact{file("/tmp/report", "r")}, 0, runtime.Artifacts{Paths: []string{"/tmp/report"}}, []string{"tmp", "tmp/report"}, nil},
		{"a link inside", []script.Artifact{file("/workspace/out/a", "1"), {Path: "/workspace/out/l", Mode: fs.ModeSymlink, Link: "a"}}, 0, out, []string{"out", "out/a", "out/l"}, nil},
		{"nothing there", nil, 0, out, nil, fs.ErrNotExist},
		{"partial", []script.Artifact{file("/workspace/out/a", "1"), file("/workspace/out/b", "2")}, 2, out, nil, io.ErrUnexpectedEOF},
		{"too many files", []script.Artifact{file("/workspace/out/a", "1"), file("/workspace/out/b", "2")}, 0, runtime.Artifacts{Paths: out.Paths, Files: 1}, nil, nil},
		{"too many bytes", []script.Artifact{file("/workspace/out/a", "1"), file("/workspace/out/b", "22")}, 0, runtime.Artifacts{Paths: out.Paths, Bytes: 2}, nil, nil},
		{"too deep", []script.Artifact{file("/workspace/out/a/b/c", "1")}, 0, runtime.Artifacts{Paths: out.Paths, Depth: 3}, nil, nil},
		{"a path that leaves", []script.Artifact{file("/workspace/out/../../../etc/x", "1")}, 0, out, nil, nil},
		{"a link that leaves", []script.Artifact{{Path: "/workspace/out/l", Mode: fs.ModeSymlink, Link: "../../x"}}, 0, out, nil, nil},
		{"setuid", []script.Artifact{{Path: "/workspace/out/s", Mode: fs.ModeSetuid | 0o755}}, 0, out, nil, nil},
		{"a device", []script.Artifact{{Path: "/workspace/out/d", Mode: fs.ModeDevice | 0o644}}, 0, out, nil, nil},
		{"a pipe", []script.Artifact{{Path: "/workspace/out/p", Mode: fs.ModeNamedPipe | 0o644}}, 0, out, nil, nil},
		{"the same file twice", []script.Artifact{file("/workspace/out/a", "1"), file("/workspace/out/a", "2")}, 0, out, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				req := request(runID, "owner")
				req.Workspace = &runtime.Workspace{Target: "/workspace"}
				r := startOn(t, newBackend(t, nil, &script.Script{Artifacts: tt.files, ExportStops: tt.stops}), req)
				r.wait()
				dir := t.TempDir()
				m, err := r.res.Export(t.Context(), dir, &tt.ask)
				if tt.want == nil {
					if !errors.Is(err, runtime.ErrSetup) && !errors.Is(err, runtime.ErrDenied) || tt.err != nil && !errors.Is(err, tt.err) || m != nil && m.Whole {
						t.Errorf("Export: %+v, %v", m, err)
					}
					if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
						t.Errorf("it left %v, %v", left, err)
					}
					return
				}
				if err != nil || !m.Whole || m.Digest != runtime.DigestManifest(m.Files) {
					t.Fatalf("Export: %+v, %v", m, err)
				}
				var got []string
				for _, e := range m.Files {
					got = append(got, e.Path)
					if _, err := os.Lstat(filepath.Join(dir, e.Path)); err != nil {
						t.Error(err)
					}
				}
				if !slices.Equal(got, tt.want) {
					t.Errorf("manifest %v, want %v", got, tt.want)
				}
			})
		})
	}
}
