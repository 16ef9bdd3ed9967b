package spec

import "slices"

// needs asks for a reason where an extending spec widens what its base allows: the first given one of because is it.
func (c *checker) needs(p Position, what, how string, because ...Text) {
	if !c.extending() || slices.ContainsFunc(because, Text.given) {
		return
	}
	c.errorf(p, `write because: "…" beside it`, "%s: %s; an extending spec may only tighten", what, how)
}

// widerList asks for a reason for each item that no item of the base covers.
func (c *checker) widerList(items []Text, base []Text, what string, because Text) {
	for _, t := range items {
		if !slices.ContainsFunc(base, func(b Text) bool { return matches(b.Text, t.Text) }) {
			c.needs(t.Pos, what, quote(t.Text)+" is not allowed by the base", because)
		}
	}
}

// networkRank orders network modes from the narrowest on.
var networkRank = []string{"none", "egress", "session", "private", "host"}

// levelRank orders levels from the weakest on.
var levelRank = []Level{LevelOff, LevelPreferred, LevelRequired}

// pullRank orders pull policies from the narrowest on.
var pullRank = []string{"never", "missing", "always"}

// wideMounts are the kinds of mount through which something of the host can be changed or reached.
var wideMounts = []string{"bind-rw", "volume", "device", "socket"}

// raised reports whether a bound is weaker than a base's; nil is no bound.
func raised(bound, base *Bound) bool {
	if base == nil {
		return false
	}
	return bound == nil || bound.Hard > base.Hard || bound.Soft > base.Soft
}
