package gen

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sbxkit/sbxkit/spec"
)

// document is a Markdown file while it is written.
type document struct{ b strings.Builder }

func (d *document) line(format string, args ...any) { fmt.Fprintf(&d.b, format+"\n", args...) }

// table writes a table where there are rows. Cells are ready for Markdown.
func (d *document) table(title string, head []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	d.line("\n## %s\n", title)
	d.line("| %s |", strings.Join(head, " | "))
	d.line("|%s", strings.Repeat("---|", len(head)))
	for _, r := range rows {
		d.line("| %s |", strings.Join(r, " | "))
	}
}

// readme gives the policy and capabilities as tables a reviewer can read.
func (p *pkg) readme() []byte {
	var (
		d document
		s = p.spec
	)
	for _, line := range p.header() {
		d.line("<!-- %s -->", strings.ReplaceAll(line, "--", "- -"))
	}
	d.line("\n# %s\n", cell(s.Name))
	d.line("%s", cell(s.Summary))
	if s.Unsandboxed {
		d.line("\n**It isolates nothing**: it is used only where a mode permits that openly.")
	}
	d.line("\nKind %s, from %s.", code(string(s.Kind)), code(filepath.ToSlash(s.File)))

	d.table("Environment", []string{"what", "names"}, environmentRows(s.Policy.Environment))
	d.table("Limits", []string{"limit", "default", "at most", "kept by"}, p.limitRows())
	d.table("Hardening", []string{"option", "level", "kept by"}, p.hardeningRows())
	d.table("Mounts of every run", []string{"kind", "source", "place inside", "notes"}, mountRows(s.Policy.Mounts))
	d.table("What else a run gets", []string{"what", "default", "a launch may ask for"}, otherRows(s.Policy))
	d.table("Credentials", []string{"role", "how it is given"}, credentialRows(s.Policy.Credentials))
	d.table("Knobs, read at every launch", []string{"variable", "sets", "default"}, knobRows(s.Policy.Knobs))
	d.table("Widened, and why", []string{"what", "because", "where"}, becauseRows(s.Because))
	d.table("Stop ladder", []string{"rung", "waits"}, ladderRows(s.Lifecycle.Stop))
	d.table("Options it needs of the tool", []string{"option", "since", "for"}, flagRows(s.Features))
	d.table("What it cannot do", []string{"name", "why"}, featureRows(s.Features, spec.HowUnsupported))
	d.table("What the tool does anyway", []string{"name", "how"}, featureRows(s.Features, spec.HowImplied))
	return []byte(d.b.String())
}

func codes(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, code(w))
	}
	if len(out) == 0 {
		return "–"
	}
	return strings.Join(out, ", ")
}

func placeCodes(in []spec.Text) string {
	var words []string
	for _, t := range in {
		words = append(words, t.Text)
	}
	return codes(words)
}

func environmentRows(e spec.EnvironmentPolicy) [][]string {
	var set []string
	for _, v := range e.Set {
		set = append(set, v.Name+"="+v.Value)
	}
	return [][]string{
		{"set", codes(set)},
		{"copied from the host if set there", placeCodes(e.Forward)},
		{"a launch may set", placeCodes(e.Accept)},
		{"never", placeCodes(e.Deny)},
	}
}

// keptBy says how the backend meets a name.
func (p *pkg) keptBy(name string) string {
	f, ok := p.spec.Feature(name)
	switch {
	case !ok:
		return "–"
	case f.How == spec.HowSpelled:
		var flags []string
		for _, flag := range f.Flags {
			flags = append(flags, flag.Name)
		}
		if len(flags) == 0 {
			return "the command line"
		}
		return codes(flags)
	case f.How == spec.HowBy:
		return cell(f.By)
	case f.How == spec.HowImplied:
		return "the tool: " + cell(f.Reason)
	default:
		return "nothing: " + cell(f.Reason)
	}
}

func boundText(b *spec.Bound) string {
	switch {
	case b == nil:
		return "–"
	case b.Soft == b.Hard:
		return fmt.Sprint(b.Hard)
	default:
		return fmt.Sprintf("%d (soft), %d (hard)", b.Soft, b.Hard)
	}
}

func (p *pkg) limitRows() [][]string {
	var rows [][]string
	for _, l := range p.spec.Policy.Limits {
		given := boundText(l.Default)
		if l.Text != "" {
			given = code(l.Text)
		}
		rows = append(rows, []string{code(l.Name), given, boundText(l.Max), p.keptBy(l.Name)})
	}
	t := p.spec.Policy.Timeouts
	for _, row := range []struct {
		name string
		text fmt.Stringer
		zero bool
	}{
		{"timeouts.start", t.Start, t.Start == 0}, {"timeouts.wall", t.Wall, t.Wall == 0}, {"timeouts.idle", t.Idle, t.Idle == 0},
		{"timeouts.grace", t.Grace, t.Grace == 0}, {"timeouts.liveness", t.Liveness, t.Liveness == 0},
	} {
		if !row.zero {
			rows = append(rows, []string{code(row.name), row.text.String(), "–", p.keptBy(row.name)})
		}
	}
	return rows
}

func (p *pkg) hardeningRows() [][]string {
	var rows [][]string
	for _, h := range p.spec.Policy.Hardening {
		level := string(h.Level)
		if h.Value != "" {
			level += " " + code(h.Value)
		}
		rows = append(rows, []string{code(h.Name), level, p.keptBy(h.Name)})
	}
	return rows
}

func mountRows(mounts []spec.Mount) [][]string {
	var rows [][]string
	for _, m := range mounts {
		var notes []string
		if m.Size != 0 {
			notes = append(notes, fmt.Sprintf("%d bytes", m.Size))
		}
		if m.Mode != 0 {
			notes = append(notes, fmt.Sprintf("mode %04o", m.Mode))
		}
		if m.Scope != "" {
			notes = append(notes, "kept for a "+cell(m.Scope))
		}
		if m.Optional {
			notes = append(notes, "left out where absent")
		}
		source := "–"
		if m.Source != "" {
			source = code(m.Source)
		}
		rows = append(rows, []string{cell(m.Kind), source, code(m.Target), strings.Join(notes, ", ")})
	}
	return rows
}

func otherRows(p spec.Policy) [][]string {
	given := func(s string) string {
		if s == "" {
			return "–"
		}
		return code(s)
	}
	user := given(p.User.Default)
	if p.User.Default == "id" {
		user = code(fmt.Sprintf("%d:%d", p.User.UID, p.User.GID))
	}
	rows := [][]string{
		{"network", given(p.Network.Default), codes(p.Network.Accept)},
		{"user", user, codes(p.User.Accept)},
		{"working directory", given(p.Workdir.Text), "any"},
		{"workspace", given(strings.TrimSpace(p.Workspace.Target + " " + p.Workspace.Default)), codes(p.Workspace.Accept) + bounds(p.Workspace.Files, p.Workspace.Bytes)},
	}
	if p.Image.Default != "" || len(p.Image.Accept) != 0 {
		rows = append(rows, []string{"image (pull: " + cell(p.Image.Pull) + ")", given(p.Image.Default), placeCodes(p.Image.Accept)})
	}
	if len(p.Sockets) != 0 {
		rows = append(rows, []string{"unix sockets of the host", "–", placeCodes(p.Sockets)})
	}
	if a := p.Artifacts; a != (spec.ArtifactsPolicy{Pos: a.Pos}) {
		rows = append(rows, []string{"artifacts", "–", strings.TrimPrefix(bounds(a.Files, a.Bytes), ", ")})
	}
	return rows
}

// bounds says how much a copy may hold.
func bounds(files, bytes int64) string {
	var out string
	if files != 0 {
		out += fmt.Sprintf(", at most %d files", files)
	}
	if bytes != 0 {
		out += fmt.Sprintf(", at most %d bytes", bytes)
	}
	return out
}

func credentialRows(rules []spec.CredentialRule) [][]string {
	var rows [][]string
	for _, r := range rules {
		how := "a descriptor"
		switch {
		case r.Env != "":
			how = "the variable " + code(r.Env)
		case r.File != "":
			how = fmt.Sprintf("the file %s, mode %04o", code(r.File), r.Mode)
		}
		rows = append(rows, []string{code(r.Role), how})
	}
	return rows
}

func knobRows(knobs []spec.Knob) [][]string {
	var rows [][]string
	for _, k := range knobs {
		rows = append(rows, []string{code(k.Env), code(k.Sets), codes(nonEmpty(k.Default))})
	}
	return rows
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func becauseRows(reasons []spec.Reason) [][]string {
	var rows [][]string
	for _, r := range reasons {
		rows = append(rows, []string{cell(r.What), cell(r.Text), code(r.Pos.Spec())})
	}
	return rows
}

func ladderRows(rungs []spec.StopRung) [][]string {
	var rows [][]string
	for _, r := range rungs {
		rung, waits := "signal "+cell(r.Signal), "`timeouts.grace`"
		if r.Kill {
			rung, waits = "kill of everything", "10s"
		}
		if r.Grace != 0 {
			waits = r.Grace.String()
		}
		rows = append(rows, []string{rung, waits})
	}
	return rows
}

func flagRows(features []spec.Feature) [][]string {
	var rows [][]string
	for _, f := range features {
		for _, flag := range f.Flags {
			if flag.Since != "" {
				rows = append(rows, []string{code(flag.Name), cell(flag.Since), code(f.Name)})
			}
		}
	}
	return rows
}

func featureRows(features []spec.Feature, how spec.How) [][]string {
	var rows [][]string
	for _, f := range features {
		if f.How == how {
			rows = append(rows, []string{code(f.Name), cell(f.Reason)})
		}
	}
	return rows
}
