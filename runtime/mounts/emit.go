package mounts

import (
	"fmt"

	"github.com/sbxkit/sbxkit/runtime"
)

// defaultWordsOf is a flag, a source and a target.
const defaultWordsOf = 3

// emit writes the plan down, in order, within the tool's budgets.
func (p *planner) emit() (*Result, error) {
	res := &Result{Dropped: p.dropped, Notes: p.notes, NextDescriptor: p.in.Tool.FirstDescriptor, planner: p}
	list := p.ordered()
	res.Mounts = make([]runtime.Mount, 0, len(list))
	made := map[string]bool{}
	for _, r := range list {
		if p.in.Tool.NoParents {
			for _, dir := range p.missingParents(r, made) {
				m := runtime.Mount{Kind: runtime.MountDir, Target: dir, Mode: 0o755, Origin: r.m.Origin}
				if err := p.count(res, r, &m); err != nil {
					return nil, err
				}
			}
		}
		m := r.m
		m.Kind, m.Target, m.Source = r.kind, r.place, ""
		m.Optional, m.Descriptor = false, 0
		switch {
		case r.kind == runtime.MountVolume:
			m.Source = r.m.Source
		case r.fromHost() || r.kind == runtime.MountSymlink:
			m.Source = r.source
		}
		if err := p.count(res, r, &m); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// missingParents lists the directories between a place and what is above it that no operation made yet, outermost first.
func (p *planner) missingParents(r *request, made map[string]bool) []string {
	c := p.coverAbove(r.place)
	if c != nil && c.bind() {
		return nil
	}
	var dirs []string
	for dir := parent(r.place); dir != "/" && p.tree[dir] == nil && !made[dir]; dir = parent(dir) {
		made[dir] = true
		dirs = append([]string{dir}, dirs...)
	}
	return dirs
}

// count appends an operation to the plan and charges it to the budgets.
func (p *planner) count(res *Result, r *request, m *runtime.Mount) error {
	t := p.in.Tool
	limit := t.WordBytes
	if limit == 0 {
		limit = DefaultWordBytes
	}
	for _, word := range []string{m.Source, m.Target} {
		if len(word) > limit {
			return r.fail(runtime.Unsupported, "one of its words has %d bytes, more than the %d that %s takes", len(word), limit, p.tool())
		}
	}
	if t.WordsOf != nil {
		res.Words += t.WordsOf(m)
	} else {
		res.Words += defaultWordsOf
	}
	if t.Words > 0 && t.UsedWords+res.Words > t.Words {
		return r.fail(runtime.Unsupported, "with it the plan has more than the %d words that %s takes (%d without mounts)", t.Words, p.tool(), t.UsedWords).
			WithCure("bind directories that hold what is bound one by one")
	}
	if m.Kind == runtime.MountFile && t.FirstDescriptor > 0 {
		if t.DescriptorLimit > 0 && res.NextDescriptor >= t.DescriptorLimit {
			return r.fail(runtime.Unsupported, "with it the plan has more than the %d descriptors there are for data", t.DescriptorLimit-t.FirstDescriptor)
		}
		m.Descriptor = res.NextDescriptor
		res.NextDescriptor++
	}
	res.Mounts = append(res.Mounts, *m)
	return nil
}

func (p *planner) tool() string {
	if p.in.Tool.Name == "" {
		return "the tool"
	}
	return fmt.Sprintf("%q", p.in.Tool.Name)
}
