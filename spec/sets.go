package spec

import "strings"

// The closed sets of words that keys can be. The loader and the schema read the same ones.
var (
	kindSet      = []string{string(KindProcess), string(KindEngine), string(KindScript)}
	argumentsSet = []string{string(ArgumentsArgv), string(ArgumentsDescriptor)}
	pickSet      = []string{string(PickFirst), string(PickRest)}
	levelSet     = []string{string(LevelRequired), string(LevelPreferred), string(LevelOff)}
	scopeSet     = []string{"run", "session", "cache"}
	userSet      = []string{"image", "caller", "id"}
	signalSet    = []string{"HUP", "INT", "QUIT", "TERM", "KILL"}
	mountSet     = []string{"bind-ro", "bind-rw", "tmpfs", "volume", "file", "symlink", "mask", "device", "socket", "proc", "dev", "dir"}

	prepareSet   = []string{"none", "directory", "container", "script"}
	gateSet      = []string{"none", "block-fd", "exec-stop", "create", "script"}
	statusSet    = []string{"none", "json-status-fd", "wait", "inspect", "script"}
	sessionSet   = []string{"new", "own"}
	teardownSet  = []string{"namespace", "session", "container", "script"}
	exportSet    = []string{"none", "archive", "script"}
	reconcileSet = []string{"none", "processes", "labels", "script"}
)

// knobSet is what a knob may set.
func knobSet() []string {
	return append([]string{"image", "user", "endpoint", "program"}, under("limits.*")...)
}

// below gives the vocabulary names under a group, without the group.
func below(group string) []string {
	var names []string
	for _, n := range under(group + ".*") {
		if short, ok := strings.CutPrefix(n, group+"."); ok {
			names = append(names, short)
		}
	}
	return names
}

// groups gives every name that has names under it, as NAME.*, in the vocabulary's order.
func groups() []string {
	var out []string
	seen := make(map[string]bool)
	for _, t := range terms {
		for i, c := range t.Name {
			if g := t.Name[:i]; c == '.' && !seen[g] {
				seen[g] = true
				out = append(out, g+".*")
			}
		}
	}
	return out
}
