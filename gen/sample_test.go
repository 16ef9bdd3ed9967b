package gen

import (
	"github.com/sbxkit/sbxkit/spec"
)

// at gives a place in the sample's file.
func at(line int) spec.Position {
	return spec.Position{File: "specs/sample.yaml", Line: line, Column: 1}
}

// val gives a value of the vocabulary as an argument.
func val(t, name string) spec.Arg {
	term, ok := spec.Lookup(t)
	if !ok {
		panic("no term " + t)
	}
	v, ok := term.Value(name)
	if !ok {
		panic("no value " + name + " of " + t)
	}
	return spec.Arg{Kind: spec.ArgValue, Value: v}
}

func value(t, name string) spec.Value { return val(t, name).Value }

// sample is a process backend that uses every form a dialect has.
func sample() *spec.Backend {
	b := &spec.Backend{
		Pos: at(1), Name: "sample", Kind: spec.KindProcess, Summary: "A sample.", File: "specs/sample.yaml", Digest: "sha256:00",
		Program: &spec.Program{Pos: at(4), Name: "tool", Override: "SBX_TOOL", Arguments: spec.ArgumentsDescriptor},
		Probe: spec.Probe{
			Version: &spec.ProbeVersion{Args: []string{"--version"}, Pattern: `tool (\S+)`}, Flags: []string{"--help"}, Launch: []string{"/bin/true"},
		},
		Words: []spec.Entry{
			{Pos: at(10), For: []string{"gate.args"}, Flag: "--args", Args: []spec.Arg{val("gate.args", "descriptor")}, Gate: true},
			{Pos: at(11), Word: "run"},
			{Pos: at(12), Flag: "--quiet"},
			{Pos: at(13), For: []string{"run.name"}, Args: []spec.Arg{{Kind: spec.ArgJoin, Pieces: []spec.Piece{
				{Text: "--name="}, {Value: value("run.name", "name")},
			}}}, Run: true},
			{Pos: at(14), For: []string{"hardening.pid-namespace", "hardening.ipc-namespace"}, Flag: "--unshare"},
			{Pos: at(15), For: []string{"environment"}, Flag: "--setenv",
				Args: []spec.Arg{val("environment", "name"), val("environment", "value")}, Private: true},
			{Pos: at(16), For: []string{"network.aliases"}, Flag: "--alias-given"},
			{Pos: at(17), For: []string{"limits.cpus"}, Flag: "--cpus", Args: []spec.Arg{val("limits.cpus", "cpus")}},
			{Pos: at(18), For: []string{"timeouts.grace"}, Flag: "--grace", Args: []spec.Arg{val("timeouts.grace", "seconds")}},
			{Pos: at(19), For: []string{"terminal"}, When: "term", Flag: "--term", Args: []spec.Arg{val("terminal", "term")}},
			{Pos: at(20), For: []string{"network.publish"}, Args: []spec.Arg{{Kind: spec.ArgJoin, Pieces: []spec.Piece{
				{Text: "-p="}, {Value: value("network.publish", "host"), When: "host"}, {Text: ":"},
				{Value: value("network.publish", "container")}, {Text: "/"}, {Value: value("network.publish", "protocol")},
			}}}},
			{Pos: at(21), Each: "mount", Spell: []spec.Spelling{
				{Pos: at(22), Name: "mount.tmpfs", Kind: "tmpfs", Entries: []spec.Entry{
					{Pos: at(22), For: []string{"mount.tmpfs"}, When: "size", Flag: "--size", Args: []spec.Arg{val("mount.tmpfs", "size")}, Since: "0.7.0"},
					{Pos: at(23), For: []string{"mount.tmpfs"}, Flag: "--tmpfs", Args: []spec.Arg{val("mount.tmpfs", "target")}},
				}},
				{Pos: at(24), Name: "mount.bind-ro", Kind: "bind-ro", Entries: []spec.Entry{
					{Pos: at(24), For: []string{"mount.bind-ro"}, Flag: "--mount", Args: []spec.Arg{{Kind: spec.ArgCSV, Fields: []spec.CSVField{
						{Text: "type=bind"}, {Name: "source=", Value: value("mount.bind-ro", "source")},
						{Name: "target=", Value: value("mount.bind-ro", "target")}, {Text: "readonly"},
					}}}},
				}},
				{Pos: at(25), Name: "mount.proc", Kind: "proc", Entries: []spec.Entry{{Pos: at(25), For: []string{"mount.proc"}, Flag: "--proc"}}},
			}},
			{Pos: at(26), For: []string{"command"}, Pick: spec.PickFirst, Flag: "--entrypoint", Args: []spec.Arg{val("command", "word")}},
			{Pos: at(27), Word: "--"},
			{Pos: at(28), For: []string{"command"}, Pick: spec.PickRest, Args: []spec.Arg{val("command", "word")}},
		},
		Policy: spec.Policy{
			Environment: spec.EnvironmentPolicy{
				Forward: []spec.Text{{Text: "LANG"}}, Set: []spec.Variable{{Name: "HOME", Value: "/tmp"}},
			},
			Limits: []spec.LimitRule{
				{Name: "limits.memory", Default: &spec.Bound{Soft: 1 << 30, Hard: 1 << 30}},
				{Name: "limits.open-files", Default: &spec.Bound{Soft: 512, Hard: 1024}},
			},
			Knobs:   []spec.Knob{{Env: "SBX_USER", Sets: "user"}, {Env: "SBX_FILES", Sets: "limits.open-files", Default: "512"}},
			Network: spec.NetworkPolicy{Default: "none", Accept: []string{"none"}},
		},
		Lifecycle: spec.Lifecycle{Start: spec.Start{Gate: "block-fd"}, Stop: []spec.StopRung{{Signal: "TERM", Number: 15}, {Kill: true}}},
	}
	for _, t := range spec.Vocabulary() {
		b.Features = append(b.Features, spec.Feature{Pos: at(30), Name: t.Name, How: spec.HowImplied, Reason: "a sample"})
	}
	return b
}
