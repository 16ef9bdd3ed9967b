package sbxtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// pin gives the plan of a launch as text, or the refusal as a line that begins with "refused: ".
func pin(b runtime.Backend, l runtime.Launch) string {
	d := b.Describe()
	identity := runtime.Identity{Backend: d.Name, Kind: d.Kind, Engine: "pinned", Version: "1", Program: "/usr/bin/" + d.Name, Flags: flags(d)}
	image := &runtime.ImageFacts{
		Ref: "pinned.example/image:1", ID: "sha256:" + strings.Repeat("1", 64), Workdir: "/", Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
	}
	switch {
	case d.Kind != "engine":
		image = nil
	case l.Image.Ref == "" && d.Policy.Image.Ref == "":
		l.Image.Ref = image.Ref
	}
	req, dropped, err := runtime.Resolve(runtime.ResolveInput{
		Description: d, Launch: &l, Environ: environ, Identity: identity, Image: image, CallerUID: 1000, CallerGID: 1000,
		Run: runtime.RunName{ID: runID, Owner: strings.Repeat("b", 26), Dir: runDir},
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

func refusal(err error) string {
	var f *runtime.Failure
	if errors.As(err, &f) {
		err = f
	}
	return fmt.Sprintf("refused: %v\n", err)
}

// planText gives a plan as lines: the words with their origins, and what else the plan says.
func planText(p *runtime.Plan) string {
	var b strings.Builder
	lines(&b, "words", p.Words, wordText)
	lines(&b, "environment of the launcher", p.Environment, runtime.Variable.String)
	lines(&b, "environment inside", p.Request.Env, runtime.Variable.String)
	lines(&b, "mounts", p.Request.Mounts, mountText)
	lines(&b, "claims", p.Claims, func(c runtime.Claim) string {
		required := ""
		if c.Required {
			required = " (required)"
		}
		return c.Name + ": " + c.Value + required
	})
	t := p.Request.Timeouts
	fmt.Fprintf(&b, "timeouts:\n  start %s, wall %s, idle %s, grace %s, liveness %s\n", t.Start, t.Wall, t.Idle, t.Grace, t.Liveness)
	lines(&b, "dropped", p.Dropped, func(d runtime.Dropped) string { return d.What + ": " + d.Why })
	lines(&b, "asked for", p.Request.Asked, func(s string) string { return s })
	if p.Create != nil {
		create, err := spare(p.Create)
		if err != nil {
			create = []byte(err.Error())
		}
		fmt.Fprintf(&b, "create request:\n%s\n", create)
	}
	return b.String()
}

func wordText(w runtime.Word) string {
	text := w.Text
	if !w.Private {
		text = runtime.ShellQuote(text)
	}
	notes := []string{w.Spec}
	for _, note := range []string{w.For, w.Field} {
		if note != "" {
			notes = append(notes, note)
		}
	}
	for _, mark := range []struct {
		set  bool
		name string
	}{{w.Private, "(private)"}, {w.Gate, "(gate)"}, {w.Run, "(this run)"}} {
		if mark.set {
			notes = append(notes, mark.name)
		}
	}
	return fmt.Sprintf("%-40s %s", text, strings.Join(notes, " "))
}

func mountText(m runtime.Mount) string {
	text := string(m.Kind)
	if m.Source != "" {
		text += " " + runtime.ShellQuote(m.Source)
	}
	return text + " " + runtime.ShellQuote(m.Target) + " from " + m.Origin
}

func lines[T any](b *strings.Builder, title string, items []T, text func(T) string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n", title)
	for _, item := range items {
		fmt.Fprintf(b, "  %s\n", text(item))
	}
}

// spare gives an engine's create request as JSON without what is empty, private values replaced.
func spare(create any) ([]byte, error) {
	raw, err := json.Marshal(create)
	if err != nil {
		return nil, fmt.Errorf("writing the create request as JSON: %w", err)
	}
	for _, private := range []string{privateValue, secretValue} {
		raw = bytes.ReplaceAll(raw, []byte(private), []byte("(private)"))
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("reading the create request back: %w", err)
	}
	text, err := json.MarshalIndent(full(v), "  ", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing the create request as JSON: %w", err)
	}
	return append([]byte("  "), text...), nil
}

// full drops what is empty out of a JSON value; nil where nothing is left. A set, which JSON has as an object of empty objects, is kept.
func full(v any) any {
	switch v := v.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, inner := range v {
			if object, ok := inner.(map[string]any); ok && len(object) == 0 && isSet(v) {
				kept[name] = inner
			} else if inner = full(inner); inner != nil {
				kept[name] = inner
			}
		}
		if len(kept) == 0 {
			return nil
		}
		return kept
	case []any:
		empty := true
		for _, item := range v {
			empty = empty && full(item) == nil
		}
		if empty {
			return nil
		}
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

func isSet(v map[string]any) bool {
	for _, inner := range v {
		if object, ok := inner.(map[string]any); !ok || len(object) != 0 {
			return false
		}
	}
	return true
}
