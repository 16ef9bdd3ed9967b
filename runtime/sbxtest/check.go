package sbxtest

import (
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// Check is one rule of the seam, as the suite holds a backend to it.
type Check struct {
	// Group is the part of the contract; Name says the rule in a few words, and is unique.
	Group, Name string
	// Rule is the rule as it is written, and Where is the document and section it is written in.
	Rule, Where string
	// Needs are the features of the vocabulary without which the check says nothing of a backend: it is a gap then.
	Needs []string

	// serial checks look at what is left of all checks, and run alone.
	serial bool
	do     func(*C)
}

// rule is a rule as it is written, with where.
type rule struct{ text, where string }

// Checks lists every check of the suite, in the order of the lifecycle.
func Checks() []Check {
	var all []Check
	for _, group := range []struct {
		name   string
		checks []Check
	}{
		{"plan", planChecks()}, {"refusal by plan", refusalChecks()}, {"probe", probeChecks()}, {"steps", stepChecks()},
		{"refusal at a step", stepRefusalChecks()}, {"streams", streamChecks()}, {"stdin", stdinChecks()}, {"environment", environmentChecks()},
		{"places", placeChecks()}, {"network", networkChecks()}, {"limits", limitChecks()}, {"guarantees", guaranteeChecks()},
		{"timeouts", timeoutChecks()}, {"cancellation", cancelChecks()}, {"outcomes", outcomeChecks()}, {"idempotence", idempotenceChecks()},
		{"concurrency", concurrencyChecks()}, {"secrets", secretChecks()}, {"journal", journalChecks()}, {"controller", controllerChecks()},
		{"modes", modeChecks()},
	} {
		for _, c := range group.checks {
			c.Group = group.name
			all = append(all, c)
		}
	}
	return all
}

// check makes a check.
func check(name string, r rule, do func(*C), needs ...string) Check {
	return Check{Name: name, Rule: r.text, Where: r.where, Needs: needs, do: do}
}

// alone makes a check that runs beside no other.
func alone(c Check) Check {
	c.serial = true
	return c
}

// Gap says why a backend that describes itself as d lacks what a check needs; empty where it lacks nothing. What a host lacks is not in it.
func (c Check) Gap(d *runtime.Description) string {
	var why []string
	for _, need := range c.Needs {
		if f, ok := d.Feature(need); !ok || f.How == runtime.HowUnsupported {
			reason := f.Reason
			if !ok {
				reason = "the backend does not know it"
			}
			why = append(why, need+": "+reason)
		} else if !accepted(d, need) {
			why = append(why, need+": the policy of "+d.Name+" does not accept it")
		}
	}
	return strings.Join(why, "; ")
}

// absent says why the host of a probed backend lacks what a check needs.
func (c Check) absent(id *runtime.Identity) string {
	for _, a := range id.Absent {
		if slices.Contains(c.Needs, a.Feature) {
			return a.Feature + ": not on this host: " + a.Why
		}
	}
	return ""
}

// accepted says whether the policy lets a launch ask for a feature of one of its closed sums.
func accepted(d *runtime.Description, feature string) bool {
	sum, word, _ := strings.Cut(feature, ".")
	switch sum {
	case "workspace":
		return slices.Contains(d.Policy.Workspace.Accept, runtime.WorkspaceMode(word))
	case "user":
		return slices.Contains(d.Policy.UserAccept, runtime.UserKind(word)) || string(d.Policy.User.Kind) == word
	case "network":
		n := runtime.NetworkMode(word)
		sums := []runtime.NetworkMode{runtime.NetworkHost, runtime.NetworkPrivate, runtime.NetworkEgress, runtime.NetworkSession}
		return !slices.Contains(sums, n) || slices.Contains(d.Policy.NetworkAccept, n) || d.Policy.Network == n
	}
	return true
}
