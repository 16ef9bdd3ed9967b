package gen

import (
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/spec"
)

// engineSample is an engine backend whose one entry has the binding.
func engineSample(e spec.Entry) *spec.Backend {
	b := sample()
	b.Kind, b.Engine = spec.KindEngine, &spec.Engine{Names: []string{"Engine"}, Endpoint: "DOCKER_HOST"}
	b.Program.Arguments = spec.ArgumentsArgv
	e.Pos = at(7)
	for i := range e.API {
		e.API[i].Pos = at(8)
	}
	b.Words = []spec.Entry{e}
	return b
}

func arg(a spec.Arg) *spec.APIValue { return &spec.APIValue{Pos: at(8), Arg: &a} }

func text1(s string) spec.Arg { return spec.Arg{Pos: at(8), Kind: spec.ArgText, Text: s} }

func placed(a spec.Arg) spec.Arg { a.Pos = at(8); return a }

func TestBindingsBecomeAssignments(t *testing.T) {
	yes := spec.Arg{Kind: spec.ArgBool, Bool: true}
	object := func(fields ...spec.APIField) *spec.APIValue { return &spec.APIValue{Pos: at(8), Fields: fields} }
	for name, tc := range map[string]struct {
		entry spec.Entry
		want  string
	}{
		"a text": {
			spec.Entry{For: []string{"hostname"}, API: []spec.Binding{{Path: "Config.Hostname", Op: spec.OpSet, Value: arg(val("hostname", "name"))}}},
			`c.Config.Hostname = r.Hostname`,
		},
		"a named text": {
			spec.Entry{For: []string{"limits.cpuset"}, API: []spec.Binding{{Path: "HostConfig.IpcMode", Op: spec.OpSet, Value: arg(val("limits.cpuset", "cpuset"))}}},
			`c.HostConfig.IpcMode = engine.IpcMode(r.Limits.CPUSet)`,
		},
		"a pointer to a number": {
			spec.Entry{For: []string{"limits.processes"}, API: []spec.Binding{{Path: "HostConfig.PidsLimit", Op: spec.OpSet, Value: arg(val("limits.processes", "max"))}}},
			`c.HostConfig.PidsLimit = new(runtime.Signed(r.Limits.Processes.Hard))`,
		},
		"a pointer to a boolean": {
			spec.Entry{For: []string{"hardening.init"}, API: []spec.Binding{{Path: "HostConfig.Init", Op: spec.OpSet, Value: arg(yes)}}},
			`c.HostConfig.Init = new(true)`,
		},
		"a number of another size": {
			spec.Entry{For: []string{"timeouts.grace"}, API: []spec.Binding{{Path: "HostConfig.OomScoreAdj", Op: spec.OpSet, Value: arg(val("timeouts.grace", "seconds"))}}},
			`c.HostConfig.OomScoreAdj = int(runtime.Seconds(r.Timeouts.Grace))`,
		},
		"a number as text": {
			spec.Entry{For: []string{"limits.memory"}, API: []spec.Binding{{Path: "Config.Domainname", Op: spec.OpSet, Value: arg(val("limits.memory", "max"))}}},
			`c.Config.Domainname = strconv.FormatUint(r.Limits.Memory.Hard, 10)`,
		},
		"an appended text": {
			spec.Entry{For: []string{"hardening.capabilities"}, API: []spec.Binding{{Path: "HostConfig.CapDrop", Op: spec.OpAppend, Value: arg(text1("ALL"))}}},
			`c.HostConfig.CapDrop = append(c.HostConfig.CapDrop, "ALL")`,
		},
		"an appended pointer to an object": {
			spec.Entry{For: []string{"limits.core"}, API: []spec.Binding{{Path: "HostConfig.Ulimits", Op: spec.OpAppend, Value: object(
				spec.APIField{Pos: at(8), Name: "Name", Value: *arg(text1("core"))}, spec.APIField{Pos: at(8), Name: "Soft", Value: *arg(val("limits.core", "soft"))},
			)}}},
			`c.HostConfig.Ulimits = append(c.HostConfig.Ulimits, &engine.Ulimit{Name: "core", Soft: runtime.Signed(r.Limits.Core.Soft)})`,
		},
		"a key of a set": {
			spec.Entry{For: []string{"network.publish"}, API: []spec.Binding{{Path: "Config.ExposedPorts", Op: spec.OpKey, Key: new(placed(val("network.publish", "protocol")))}}},
			`c.Config.ExposedPorts[engine.Port(p.Protocol)] = struct{}{}`,
		},
		"a key with a value": {
			spec.Entry{For: []string{"labels"}, API: []spec.Binding{{
				Path: "Config.Labels", Op: spec.OpKey, Key: new(val("labels", "name")), Value: arg(val("labels", "value")),
			}}},
			`c.Config.Labels[l.Name] = l.Value`,
		},
		"a credential's bytes": {
			spec.Entry{For: []string{"credentials.env"}, API: []spec.Binding{{Path: "Config.Env", Op: spec.OpAppend, Value: arg(spec.Arg{
				Kind: spec.ArgJoin, Pieces: []spec.Piece{{Value: value("credentials.env", "name")}, {Text: "="}, {Value: value("credentials.env", "value")}},
			})}}},
			`c.Config.Env = append(c.Config.Env, grant.Env+"="+string(grant.Value))`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			source := string(generated(t, engineSample(tc.entry)).file(t, "create.go"))
			if !strings.Contains(source, tc.want) {
				t.Errorf("create.go lacks %s:\n%s", tc.want, source)
			}
		})
	}
}

func TestBindingsThatDoNotFitAreRefused(t *testing.T) {
	set := func(path string, v *spec.APIValue) spec.Entry {
		return spec.Entry{For: []string{"limits.cpus"}, API: []spec.Binding{{Path: path, Op: spec.OpSet, Value: v}}}
	}
	object := &spec.APIValue{Pos: at(8), Fields: []spec.APIField{{Pos: at(8), Name: "Nonsense", Value: *arg(text1("x"))}}}
	for name, tc := range map[string]struct {
		entry spec.Entry
		want  string
	}{
		"a field there is none of": {set("HostConfig.PidLimit", arg(text1("x"))), "HostConfig has no field PidLimit; it has Annotations, AutoRemove"},
		"a field of a text":        {set("Config.Hostname.Length", arg(text1("x"))), "Config.Hostname is of type string: it has no field Length"},
		"a field behind a pointer": {set("Config.Healthcheck.Test", arg(text1("x"))), "Config.Healthcheck is a pointer that nothing sets"},
		"text for a number":        {set("HostConfig.Memory", arg(text1("x"))), `text "x" is not of type int64`},
		"text for a boolean":       {set("HostConfig.ReadonlyRootfs", arg(text1("true"))), `text "true" is not of type bool`},
		"a boolean for a text":     {set("Config.Hostname", arg(spec.Arg{Pos: at(8), Kind: spec.ArgBool, Bool: true})), "true is not of type string"},
		"a value for an object":    {set("HostConfig.LogConfig", arg(text1("x"))), "one value cannot be of type engine.LogConfig"},
		"an object for a number":   {set("HostConfig.Memory", object), "an object cannot be of type int64"},
		"a field an object lacks":  {set("HostConfig.LogConfig", object), "engine.LogConfig has no field Nonsense; it has Config, Type"},
		"appended to no list": {
			spec.Entry{For: []string{"limits.cpus"}, API: []spec.Binding{{Path: "HostConfig.Memory", Op: spec.OpAppend, Value: arg(text1("x"))}}},
			"HostConfig.Memory is of type int64, not a list",
		},
		"a key of no map": {
			spec.Entry{For: []string{"limits.cpus"}, API: []spec.Binding{{Path: "HostConfig.Memory", Op: spec.OpKey, Key: new(text1("x"))}}},
			"HostConfig.Memory is of type int64, not a map",
		},
		"a key without the value it needs": {
			spec.Entry{For: []string{"limits.cpus"}, API: []spec.Binding{{Path: "Config.Labels", Op: spec.OpKey, Key: new(text1("x"))}}},
			"Config.Labels holds string: say the value",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := generate(engineSample(tc.entry), Options{Out: "generated"}, load(t))
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "specs/sample.yaml:8:1: api: ") {
				t.Errorf("got %v, want specs/sample.yaml:8:1: api: … %s", err, tc.want)
			}
		})
	}
}
