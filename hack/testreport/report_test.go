package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each case is a module of its own, tested by the real go test.
func TestReportSaysWhatHappened(t *testing.T) {
	tests := []struct {
		name   string
		files  map[string]string
		args   []string
		status int
		last   string   // the last line
		says   []string // lines the report must contain
	}{
		{
			name: "passed and skipped tests are counted apart",
			files: map[string]string{"a_test.go": `package a
import "testing"
func TestOne(t *testing.T) {}
func TestSkipped(t *testing.T) { t.Log("looked"); t.Skip("no engine: start one") }
`},
			status: 0, last: "1 passed, 0 failed, 1 skipped",
			says: []string{"SKIPPED  m TestSkipped: no engine: start one"},
		},
		{
			name: "subtests are counted and their parents are not",
			files: map[string]string{"a_test.go": `package a
import "testing"
func TestTable(t *testing.T) {
	t.Run("good", func(*testing.T) {})
	t.Run("bad", func(t *testing.T) { t.Error("wrong answer") })
	t.Run("away", func(t *testing.T) { t.Skip("not here") })
}
`},
			status: 1, last: "1 passed, 1 failed, 1 skipped",
			says: []string{"    FAIL  TestTable/bad", "wrong answer", "SKIPPED  m TestTable/away: not here"},
		},
		{
			name: "a parent that fails by itself is a failure",
			files: map[string]string{"a_test.go": `package a
import "testing"
func TestTable(t *testing.T) { t.Run("good", func(*testing.T) {}); t.Error("after all") }
`},
			status: 1, last: "1 passed, 1 failed, 0 skipped",
			says: []string{"    FAIL  TestTable", "after all"},
		},
		{
			name:   "a package that does not build is a failure",
			files:  map[string]string{"a_test.go": "package a\nimport \"testing\"\nfunc TestOne(t *testing.T) { undefined() }\n"},
			status: 1, last: "0 passed, 1 failed, 0 skipped",
			says: []string{"undefined: undefined"},
		},
		{
			name: "a panic fails the test that was running",
			files: map[string]string{"a_test.go": `package a
import "testing"
func TestOne(t *testing.T) {}
func TestPanic(t *testing.T) { panic("oh no") }
func TestNeverReached(t *testing.T) {}
`},
			status: 1, last: "1 passed, 1 failed, 0 skipped",
			says: []string{"    FAIL  TestPanic", "panic: oh no"},
		},
		{
			name: "exiting with status 0 in the middle is a failure",
			files: map[string]string{"a_test.go": `package a
import ("syscall"; "testing")
func TestLeaves(t *testing.T) { t.Run("child", func(*testing.T) { syscall.Exit(0) }) }
`},
			status: 1, last: "0 passed, 1 failed, 0 skipped",
			says: []string{"did not end"},
		},
		{
			name: "a TestMain that fails is a failure",
			files: map[string]string{"a_test.go": `package a
import ("fmt"; "os"; "testing")
func TestMain(m *testing.M) { m.Run(); fmt.Println("left something behind"); os.Exit(1) }
func TestOne(t *testing.T) {}
`},
			status: 1, last: "1 passed, 1 failed, 0 skipped",
			says: []string{"left something behind"},
		},
		{
			name: "when everything is skipped nothing ran",
			files: map[string]string{"a_test.go": `package a
import "testing"
func TestSkipped(t *testing.T) { t.SkipNow() }
`},
			status: 1, last: "0 passed, 0 failed, 1 skipped",
			says: []string{"FAIL  no test ran", "SKIPPED  m TestSkipped: no reason given"},
		},
		{
			name:   "no test files",
			files:  map[string]string{"a.go": "package a\n"},
			status: 1, last: "0 passed, 0 failed, 0 skipped",
			says: []string{"FAIL  no test ran"},
		},
		{
			name:   "a command line go test refuses",
			files:  map[string]string{"a.go": "package a\n"},
			args:   []string{"-count=many"},
			status: 1, last: "0 passed, 1 failed, 0 skipped",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tt.files["go.mod"] = "module m\n\ngo 1.26\n"
			for name, text := range tt.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var out, errs bytes.Buffer
			status, err := run(dir, append(tt.args, "./..."), &out, &errs)
			if err != nil {
				t.Fatalf("run: %v\n%s", err, errs.String())
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if diff := cmp.Diff(tt.last, lines[len(lines)-1]); diff != "" {
				t.Errorf("last line (-want +got):\n%s\nall of it:\n%s", diff, out.String())
			}
			if status != tt.status {
				t.Errorf("status %d, want %d:\n%s", status, tt.status, out.String())
			}
			for _, want := range tt.says {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is missing from:\n%s", want, out.String())
				}
			}
		})
	}
}

// A go test that is killed leaves tests that never ended.
func TestReportFailsTestsOfAnInterruptedRun(t *testing.T) {
	var out bytes.Buffer
	r := newReport(&out)
	if err := r.read(strings.NewReader(`{"Action":"start","Package":"m"}
{"Action":"run","Package":"m","Test":"TestOne"}
`)); err != nil {
		t.Fatal(err)
	}
	if status := r.finish(&exec.ExitError{}); status != 1 {
		t.Errorf("status %d, want 1", status)
	}
	if !strings.HasSuffix(out.String(), "\n0 passed, 1 failed, 0 skipped\n") {
		t.Errorf("the test that never ended is not counted:\n%s", out.String())
	}
}
