package journal_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

func write(t *testing.T, path, data string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What is not a whole record of this version is reported at every listing, cannot be taken, and stays as it is.
func TestDamagedRecordsAreReportedAndLeftAlone(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, dir, whole string)
		want   error
	}{
		{"empty", func(t *testing.T, dir, _ string) { write(t, dir+"/record.json", "") }, journal.ErrCorrupt},
		{"half-written", func(t *testing.T, dir, w string) { write(t, dir+"/record.json", w[:len(w)/2]) }, journal.ErrCorrupt},
		{"one byte short", func(t *testing.T, dir, w string) { write(t, dir+"/record.json", w[:len(w)-2]) }, journal.ErrCorrupt},
		{"zeros, as after a power failure", func(t *testing.T, dir, w string) { write(t, dir+"/record.json", strings.Repeat("\x00", len(w))) }, journal.ErrCorrupt},
		{"a changed value", func(t *testing.T, dir, w string) {
			write(t, dir+"/record.json", strings.Replace(w, `"charged":true`, `"charged":false`, 1))
		}, journal.ErrCorrupt},
		{"something behind it", func(t *testing.T, dir, w string) { write(t, dir+"/record.json", w+"{}") }, journal.ErrCorrupt},
		{"twice", func(t *testing.T, dir, w string) { write(t, dir+"/record.json", w+w) }, journal.ErrCorrupt},
		{"no version", func(t *testing.T, dir, w string) {
			write(t, dir+"/record.json", strings.Replace(w, `"version":1,`, "", 1))
		}, journal.ErrCorrupt},
		{"version 0", func(t *testing.T, dir, w string) {
			write(t, dir+"/record.json", strings.Replace(w, `"version":1`, `"version":0`, 1))
		}, journal.ErrCorrupt},
		{"a newer version", func(t *testing.T, dir, _ string) {
			write(t, dir+"/record.json", `{"version":2,"whatever":{"may":"be"}}`)
		}, journal.ErrNewer},
		{"another run's", func(t *testing.T, dir, w string) {
			if err := os.Rename(dir, filepath.Join(filepath.Dir(dir), "b")); err != nil {
				t.Fatal(err)
			}
		}, journal.ErrCorrupt},
		{"too big", func(t *testing.T, dir, w string) { write(t, dir+"/record.json", w+strings.Repeat(" ", 1<<20)) }, journal.ErrCorrupt},
		{"a link", func(t *testing.T, dir, w string) {
			write(t, dir+"/elsewhere", w)
			replaceBy(t, dir+"/record.json", func(p string) error { return os.Symlink("elsewhere", p) })
		}, nil},
		{"a directory", func(t *testing.T, dir, w string) {
			replaceBy(t, dir+"/record.json", func(p string) error { return os.Mkdir(p, 0o700) })
		}, nil},
		{"no lock", func(t *testing.T, dir, w string) { replaceBy(t, dir+"/lock", func(string) error { return nil }) }, journal.ErrCorrupt},
		{"a lock that is a link", func(t *testing.T, dir, w string) {
			write(t, dir+"/elsewhere", "")
			replaceBy(t, dir+"/lock", func(p string) error { return os.Symlink("elsewhere", p) })
		}, nil},
		{"no record, and something of a run", func(t *testing.T, dir, w string) {
			replaceBy(t, dir+"/record.json", func(string) error { return nil })
			write(t, dir+"/workspace", "")
		}, journal.ErrCorrupt},
		{"others can write to it", func(t *testing.T, dir, w string) {
			if err := os.Chmod(dir, 0o777); err != nil {
				t.Fatal(err)
			}
		}, fs.ErrPermission},
		{"a directory that is a link", func(t *testing.T, dir, w string) {
			if err := os.Rename(dir, dir+".real"); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(dir+".real", filepath.Join(filepath.Dir(filepath.Dir(dir)), "real")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("../real", dir); err != nil {
				t.Fatal(err)
			}
		}, journal.ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := open(t, filepath.Join(t.TempDir(), "state"))
			e := create(t, j, "a")
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			tt.damage(t, e.Dir(), read(t, e.Dir()+"/record.json"))
			before := tree(t, j.Dir())
			for range 2 {
				l := list(t, j)
				l.is(t, nil, nil, 1)
				for name, err := range l.bad {
					var f *runtime.Failure
					if tt.want != nil && !errors.Is(err, tt.want) || !errors.As(err, &f) || f.Cure == "" {
						t.Errorf("%s: %v, want %v with a cure", name, err, tt.want)
					}
					if e, err := j.Take(t.Context(), name); err == nil {
						closes(t, e)
						t.Errorf("%s could be taken", name)
					}
				}
			}
			if after := tree(t, j.Dir()); after != before {
				t.Errorf("the state directory was changed from\n%s\nto\n%s", before, after)
			}
		})
	}
}

func replaceBy(t *testing.T, path string, with func(string) error) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := with(path); err != nil {
		t.Fatal(err)
	}
}

// tree lists names, modes and contents.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		i, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(strings.TrimPrefix(p, dir) + " " + i.Mode().String())
		if i.Mode().IsRegular() {
			b.WriteString(" " + read(t, p))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestStrangeThingsAmongTheRunsAreReported(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "state"))
	runs := filepath.Join(j.Dir(), "runs")
	write(t, filepath.Join(runs, "file"), "x")
	if err := os.Mkdir(filepath.Join(runs, "NOT AN ID"), 0o700); err != nil {
		t.Fatal(err)
	}
	create(t, j, "a")
	list(t, j).is(t, []string{"a"}, nil, 2)
}

// A controller that died between making the directory and writing the record made nothing else.
func TestARunThatWasNeverBegunIsSweptAway(t *testing.T) {
	for name, files := range map[string][]string{
		"only the directory": nil, "with a lock": {"lock"}, "with a half-written record": {"lock", ".record.json123456"},
	} {
		t.Run(name, func(t *testing.T) {
			j := open(t, filepath.Join(t.TempDir(), "state"))
			dir := j.RunDir("a")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				write(t, filepath.Join(dir, f), "{")
			}
			list(t, j).is(t, nil, nil, 0)
			if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it is still there: %v", err)
			}
		})
	}
}

func TestAHalfWrittenReplacementDoesNotHideTheRecord(t *testing.T) {
	j := open(t, filepath.Join(t.TempDir(), "state"))
	e := create(t, j, "a")
	write(t, filepath.Join(e.Dir(), ".record.json99"), `{"version":1,`)
	list(t, j).is(t, []string{"a"}, nil, 0)
	if err := e.Remove(); err != nil {
		t.Fatal(err)
	}
	list(t, j).is(t, nil, nil, 0)
}

func TestAnUnreadableOwnerIsRefusedAndNotReplaced(t *testing.T) {
	for name, content := range map[string]string{"empty": "", "short": "abc\n", "garbage": strings.Repeat("!", 26), "long": strings.Repeat("a", 100)} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			open(t, dir)
			write(t, filepath.Join(dir, "owner"), content)
			if _, err := journal.Open(t.Context(), dir); !errors.Is(err, runtime.ErrSetup) {
				t.Errorf("Open: %v", err)
			}
			if got := read(t, filepath.Join(dir, "owner")); got != content {
				t.Errorf("it was changed to %q", got)
			}
		})
	}
}

func TestStateDirectoriesThatCannotBeTrusted(t *testing.T) {
	tests := []struct {
		name string
		make func(dir string) error
		cure string // part of it
	}{
		{"a link", func(d string) error {
			return errors.Join(os.Mkdir(d+".real", 0o700), os.Symlink(d+".real", d))
		}, "the directory it leads to"},
		{"a file", func(d string) error { return os.WriteFile(d, nil, 0o600) }, "a directory"},
		{"writable by all", func(d string) error { return errors.Join(os.Mkdir(d, 0o700), os.Chmod(d, 0o777)) }, "chmod go-w -- "},
		{"writable by a group", func(d string) error { return errors.Join(os.Mkdir(d, 0o700), os.Chmod(d, 0o770)) }, "chmod go-w -- "},
		{"sticky and writable by all", func(d string) error { return errors.Join(os.Mkdir(d, 0o700), os.Chmod(d, fs.ModeSticky|0o777)) }, "chmod go-w -- "},
		{"runs is a link", func(d string) error {
			return errors.Join(os.Mkdir(d, 0o700), os.Mkdir(d+".other", 0o700), os.Symlink(d+".other", d+"/runs"))
		}, "the directory it leads to"},
		{"runs is writable by all", func(d string) error {
			return errors.Join(os.MkdirAll(d+"/runs", 0o700), os.Chmod(d+"/runs", 0o777))
		}, "chmod go-w -- "},
		{"the owner is a link", func(d string) error {
			return errors.Join(os.Mkdir(d, 0o700), os.WriteFile(d+".secret", []byte(strings.Repeat("a", 26)), 0o600), os.Symlink(d+".secret", d+"/owner"))
		}, ""},
		{"the owner's lock is a link", func(d string) error {
			return errors.Join(os.Mkdir(d, 0o700), os.Symlink(d+".made", d+"/owner.lock"))
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			if err := tt.make(dir); err != nil {
				t.Fatal(err)
			}
			_, err := journal.Open(t.Context(), dir)
			var f *runtime.Failure
			if !errors.As(err, &f) || f.Kind != runtime.Setup || !strings.Contains(f.Cure, tt.cure) {
				t.Errorf("Open: %v", err)
			}
			if _, err := os.Lstat(dir + ".made"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a link was followed: %v", err)
			}
		})
	}
}
