package sbxtest

import (
	"bytes"
	"encoding/json"
	"errors"
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

// Plans plans a fixed set of launches on b and compares each plan, with the origin of each of its words, with the golden file of that
// name in dir. It starts nothing and looks at no host: the plans are the same on every machine. With -update it writes the files, and
// removes those that no launch has.
//
// A refusal is pinned like a plan. A private value of a launch that shows anywhere in a plan fails the test.
func Plans(t *testing.T, b runtime.Backend, dir string) {
	t.Helper()
	d := b.Describe()
	if d.Kind == "process" && goruntime.GOOS != "linux" {
		t.Skipf("a backend of kind process plans on Linux only; this is %s", goruntime.GOOS)
	}
	known := map[string]bool{}
	for _, l := range launches(d) {
		known[l.name+".golden"] = true
		t.Run(l.name, func(t *testing.T) {
			got := pin(b, l.launch)
			for _, private := range []string{privateValue, secretValue} {
				if bytes.Contains(got, []byte(private)) {
					t.Errorf("a private value shows in the plan:\n%s", got)
				}
			}
			compare(t, filepath.Join(dir, l.name+".golden"), got)
		})
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatalf("reading golden plans: %v", err)
	}
	for _, e := range entries {
		if known[e.Name()] {
			continue
		}
		if file := filepath.Join(dir, e.Name()); !*update {
			t.Errorf("%s is the plan of no launch; run the test with -update", file)
		} else if err := os.Remove(file); err != nil {
			t.Errorf("removing the plan of no launch: %v", err)
		}
	}
}

func compare(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("reading the golden plan (run the test with -update to write it): %v", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the plan is not the one in %s; review it and run the test with -update\n%s", file, firstDifference(string(want), string(got)))
	}
}

// firstDifference shows the first line in which two texts differ, and the few after it.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	i := 0
	for i < len(w) && i < len(g) && w[i] == g[i] {
		i++
	}
	few := func(lines []string) string { return strings.Join(lines[i:min(i+5, len(lines))], "\n\t") }
	return fmt.Sprintf("line %d, want:\n\t%s\ngot:\n\t%s", i+1, few(w), few(g))
}

// pin gives the plan of a launch as text, or the refusal.
func pin(b runtime.Backend, l runtime.Launch) []byte {
	d := b.Describe()
	identity := runtime.Identity{Backend: d.Name, Kind: d.Kind, Engine: "pinned", Version: "1", Program: "/usr/bin/" + d.Name, Flags: flags(d)}
	image := &runtime.ImageFacts{Ref: "pinned.example/image:1", Workdir: "/", Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}}
	switch {
	case d.Kind != "engine":
		image = nil
	case l.Image.Ref == "" && d.Policy.Image.Ref == "":
		l.Image.Ref = image.Ref
	}
	req, dropped, err := runtime.Resolve(runtime.ResolveInput{
		Description: d, Launch: &l, Environ: environ, Identity: identity, Image: image,
		Run:       runtime.RunName{ID: strings.Repeat("a", 26), Owner: strings.Repeat("b", 26), Dir: "/var/lib/sbx/runs/" + strings.Repeat("a", 26)},
		CallerUID: 1000, CallerGID: 1000,
	})
	if err != nil {
		return refusal(err)
	}
	p, err := b.Plan(runtime.PlanInput{Request: req, Identity: identity, Host: hostModel{}, Image: image, Dropped: dropped})
	if err != nil {
		return refusal(err)
	}
	return planText(p)
}

// flags are all options the description names: the pinned tool has every one of them.
func flags(d *runtime.Description) []string {
	var all []string
	for _, f := range d.Features {
		for _, flag := range f.Flags {
			all = append(all, flag.Name)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func refusal(err error) []byte {
	var f *runtime.Failure
	if !errors.As(err, &f) {
		return fmt.Appendf(nil, "refused: %v\n", err)
	}
	return fmt.Appendf(nil, "refused: %s\n", f.Error())
}

// planText gives a plan as lines: the command line for a person, the words with their origins, and what else the plan says.
func planText(p *runtime.Plan) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\nwords:\n", p)
	for _, w := range p.Words {
		var notes []string
		for _, note := range []string{w.For, w.Field} {
			if note != "" {
				notes = append(notes, note)
			}
		}
		for _, mark := range []struct {
			set  bool
			name string
		}{{w.Private, "private"}, {w.Gate, "gate"}, {w.Run, "run"}} {
			if mark.set {
				notes = append(notes, mark.name)
			}
		}
		text := w.Text
		if !w.Private {
			text = runtime.ShellQuote(text)
		}
		fmt.Fprintf(&b, "  %-40s %s\n", text, strings.Join(append([]string{w.Spec}, notes...), " "))
	}
	section(&b, "environment of the launcher", p.Environment, runtime.Variable.String)
	section(&b, "mounts", p.Request.Mounts, mountText)
	section(&b, "claims", p.Claims, func(c runtime.Claim) string {
		required := ""
		if c.Required {
			required = " (required)"
		}
		return c.Name + ": " + c.Value + required
	})
	section(&b, "dropped", p.Dropped, func(d runtime.Dropped) string { return d.What + ": " + d.Why })
	section(&b, "asked", p.Request.Asked, func(s string) string { return s })
	if p.Create != nil {
		create, err := spare(p.Create)
		if err != nil {
			fmt.Fprintf(&b, "\ncreate: %v\n", err)
		} else {
			fmt.Fprintf(&b, "\ncreate:\n%s\n", create)
		}
	}
	return b.Bytes()
}

func section[T any](b *bytes.Buffer, title string, items []T, text func(T) string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, item := range items {
		fmt.Fprintf(b, "  %s\n", text(item))
	}
}

func mountText(m runtime.Mount) string {
	text := string(m.Kind)
	if m.Source != "" {
		text += " " + runtime.ShellQuote(m.Source)
	}
	return text + " " + runtime.ShellQuote(m.Target) + " from " + m.Origin
}

// spare gives an engine's create request as JSON without what is empty, private values replaced.
func spare(create any) ([]byte, error) {
	raw, err := json.Marshal(create)
	if err != nil {
		return nil, fmt.Errorf("writing the create request as JSON: %w", err)
	}
	for _, private := range []string{privateValue, secretValue} {
		raw = bytes.ReplaceAll(raw, []byte(private), []byte("<private>"))
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("reading the create request back: %w", err)
	}
	full, err := json.MarshalIndent(full(v), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the create request as JSON: %w", err)
	}
	return full, nil
}

// full drops what is empty out of a JSON value; nil where nothing is left.
func full(v any) any {
	switch v := v.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, inner := range v {
			if inner = full(inner); inner != nil {
				kept[name] = inner
			}
		}
		if len(kept) == 0 {
			return nil
		}
		return kept
	case []any:
		if len(v) == 0 {
			return nil
		}
		return v
	case string:
		if v == "" {
			return nil
		}
	case float64:
		if v == 0 {
			return nil
		}
	case bool:
		if !v {
			return nil
		}
	}
	return v
}
