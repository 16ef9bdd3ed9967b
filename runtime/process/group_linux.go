package process

import (
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/cgroup"
)

// planGroup says which control group a request needs, below where the probe found that they can be made; nil for none. Pure.
func planGroup(r *runtime.Request, id *runtime.Identity) (*cgroup.Group, error) {
	if len(cgroup.Needed(&r.Limits)) == 0 {
		return nil, nil
	}
	if r.Run.ID == "" {
		return nil, runtime.Fail(runtime.Setup, "a control group is known by its run's name, and this run has none")
	}
	host := cgroup.Host{Mode: id.Cgroup, Parents: id.Cgroups}
	return host.Plan(r.Run.Name(), &r.Limits)
}

// tryGroups finds out which limits a control group can keep here, by making one. What it cannot is an absence, with the host's own word.
func (b *Backend) tryGroups(id *runtime.Identity) error {
	host, err := around.groups()
	if err != nil {
		return runtime.Fail(runtime.Setup, "%w", err).At(runtime.StepProbe)
	}
	id.Cgroup, id.Cgroups = host.Mode, host.Parents
	name := "sbx-probe-" + strings.ToLower(rand.Text())
	try := func(l runtime.Limits) error {
		g, err := host.Plan(name, &l)
		if err != nil {
			return err
		}
		if err := g.Create(); err != nil {
			return err
		}
		return g.Discard()
	}
	all := runtime.Limits{
		CPUs: runtime.AtMost(1_000_000_000), CPUSet: "0", Memory: runtime.AtMost(64 << 20), Processes: runtime.AtMost(64), Swap: runtime.AtMost(0),
	}
	if try(all) == nil {
		return nil
	}
	for _, n := range cgroup.Limits {
		if f, ok := b.def.Description.Feature(n); !ok || f.How == runtime.HowUnsupported {
			continue
		}
		var one runtime.Limits
		switch n {
		case "limits.cpuset":
			one.CPUSet = all.CPUSet
		case "limits.swap":
			one.Memory, one.Swap = all.Memory, all.Swap
		default:
			one.Put(n, all.Get(n))
		}
		if err := try(one); err != nil {
			f := runtime.AsFailure(err, runtime.Setup)
			if f.Kind != runtime.Unsupported {
				return f.At(runtime.StepProbe)
			}
			id.Absent = append(id.Absent, runtime.Absence{Feature: n, Why: strings.ReplaceAll(f.Message, name, "sbx-probe"), Cure: f.Cure})
		}
	}
	return nil
}

// readLimit reads a control group's limit back, for a process that must be in it.
func (p *process) readLimit(pid int) func(string) (string, string, error) {
	if p.group == nil {
		return nil
	}
	return func(name string) (string, string, error) {
		in, err := p.group.Has(pid)
		if err != nil {
			return "", "", err
		}
		if !in {
			return "", fmt.Sprintf("process %d is not in the run's control group", pid), nil
		}
		return p.group.Value(name)
	}
}
