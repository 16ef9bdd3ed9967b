package runtime

import (
	"maps"
	"slices"
	"strings"
)

func (r *resolver) labels() error {
	for _, name := range slices.Sorted(maps.Keys(r.l.Labels)) {
		if strings.HasPrefix(name, LabelPrefix) {
			return denied("labels", "the label %q has the reserved prefix %s", name, LabelPrefix)
		}
		if name == "" || strings.ContainsAny(name, "=\x00\n") || strings.ContainsAny(r.l.Labels[name], "\x00\n") {
			return denied("labels", "%q is not a label's name, or its value holds a line break", name)
		}
		r.ask("labels")
		r.req.Labels = append(r.req.Labels, Label{name, r.l.Labels[name]})
	}
	r.req.Labels = append(r.req.Labels, Label{LabelPrefix + "run", r.in.Run.ID})
	if r.in.Run.Owner != "" {
		r.req.Labels = append(r.req.Labels, Label{LabelPrefix + "owner", r.in.Run.Owner})
	}
	slices.SortFunc(r.req.Labels, func(a, b Label) int { return strings.Compare(a.Name, b.Name) })
	return nil
}
