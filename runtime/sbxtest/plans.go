package sbxtest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

var update = flag.Bool("update", false, "write the golden plans instead of comparing with them")

// Plans plans a fixed set of launches on b and compares each plan, with the origin of each of its words, with its section in the golden
// file, a text archive. The first section is the plan of a bare command; the others show by + and - how their plans differ from it. With
// -update the file is written.
//
// It starts nothing and looks at no host: the plans are the same on every machine. A refusal is pinned like a plan. A private value of a
// launch that shows anywhere in a plan fails the test.
func Plans(t *testing.T, b runtime.Backend, golden string) {
	t.Helper()
	d := b.Describe()
	if d.Kind == "process" && goruntime.GOOS != "linux" {
		t.Skipf("a backend of kind process plans on Linux only; this is %s", goruntime.GOOS)
	}
	want, err := readArchive(golden)
	if err != nil && !*update {
		t.Fatalf("reading the golden plans (run the test with -update to write them): %v", err)
	}
	var (
		all  archive
		base string
	)
	for i, l := range launches(d) {
		t.Run(l.name, func(t *testing.T) {
			text := pin(b, l.launch)
			for _, private := range []string{privateValue, secretValue} {
				if strings.Contains(text, private) {
					t.Errorf("a private value shows in the plan:\n%s", text)
				}
			}
			if i == 0 {
				base = text
			} else if !strings.HasPrefix(text, "refused: ") {
				text = changed(base, text)
			}
			all = append(all, section{l.name, text})
			if w, ok := want.get(l.name); !*update && !ok {
				t.Errorf("%s has no plan of this launch; run the test with -update", golden)
			} else if !*update && w != text {
				t.Errorf("the plan is not the one in %s; review it and run the test with -update\n%s", golden, changed(w, text))
			}
		})
	}
	for _, s := range want {
		if _, ok := all.get(s.name); !ok && !*update {
			t.Errorf("%s has a plan of launch %s, which there is none of; run the test with -update", golden, s.name)
		}
	}
	if *update && len(all) == len(launches(d)) {
		if err := all.write(golden); err != nil {
			t.Fatal(err)
		}
	}
}

// archive is a text archive: sections under lines of the form "-- name --".
type archive []section

type section struct{ name, text string }

func (a archive) get(name string) (string, bool) {
	for _, s := range a {
		if s.name == name {
			return s.text, true
		}
	}
	return "", false
}

func (a archive) write(file string) error {
	var b bytes.Buffer
	for _, s := range a {
		fmt.Fprintf(&b, "-- %s --\n%s", s.name, s.text)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("writing golden plans: %w", err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing golden plans: %w", err)
	}
	return nil
}

func readArchive(file string) (archive, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var a archive
	for line := range strings.Lines(string(content)) {
		name, head := strings.CutPrefix(strings.TrimSuffix(line, " --\n"), "-- ")
		switch {
		case head && strings.HasSuffix(line, " --\n"):
			a = append(a, section{name: name})
		case len(a) == 0:
			return nil, fmt.Errorf("%s does not begin with a line of the form -- name --", file)
		default:
			a[len(a)-1].text += line
		}
	}
	return a, nil
}

// changed shows by + and - how the lines of one text became those of another: a longest common subsequence.
func changed(old, new string) string {
	a, b := slices.Collect(strings.Lines(old)), slices.Collect(strings.Lines(new))
	common := make([][]int, len(a)+1) // common[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out strings.Builder
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out.WriteString("-" + a[i])
			i++
		default:
			out.WriteString("+" + b[j])
			j++
		}
	}
	return out.String()
}
