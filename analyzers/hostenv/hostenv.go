package hostenv

import (
	_ "embed"
	"fmt"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/directive"
	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"github.com/sbxkit/sbxkit/analyzers/internal/rule"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

//go:embed doc.go
var doc string

// Analyzer is the hostenv rule.
var Analyzer = rule.New(&analysis.Analyzer{
	Name:     "hostenv",
	Doc:      rule.Doc(doc),
	Run:      run,
	Requires: []*analysis.Analyzer{directive.Analyzer, flow.Analyzer},
})

// run reports environments that come from the program's own. What a launch is given is judged everywhere, what a command is given where
// commands are sandboxes.
func run(pass *analysis.Pass) (any, error) {
	index := pass.ResultOf[directive.Analyzer].(*directive.Index)
	result := pass.ResultOf[flow.Analyzer].(*flow.Result)
	if !result.Concerned || index.Package.Inside {
		return nil, nil
	}
	commands := !index.Outside() || rule.Current().HostEnvEverywhere
	defer result.Lock()()
	for _, use := range result.Uses {
		var why string
		switch {
		case inside(index, use.Fn):
			continue
		case use.Kind == flow.LaunchEnviron:
			why = given(use.Vals[0], "the launch")
			if why != "" && use.From != nil && given(use.From.Vals[0], "") != "" {
				continue
			}
		case use.Kind == flow.Environ && commands:
			if enginesOwn(pass.Pkg, use) || keptElsewhere(index, result, use) {
				continue
			}
			why = started(result, use)
		}
		if why == "" {
			continue
		}
		pass.Report(analysis.Diagnostic{
			Pos:     use.Pos,
			Message: fmt.Sprintf("%s (%s)", why, use.Chain()),
			Related: result.Related(use.Via),
		})
	}
	return nil, nil
}

// inside reports whether the function, or one around it, runs inside the sandbox.
func inside(index *directive.Index, fn *ssa.Function) bool {
	for ; fn != nil; fn = fn.Parent() {
		if obj := fn.Object(); obj != nil && index.Object(obj).Inside {
			return true
		}
	}
	return false
}

// enginesOwn reports whether a package that speaks to an engine by its client library starts a program whose name is not known: the
// engine's command-line client, where there is no socket.
func enginesOwn(pkg *types.Package, use *flow.Use) bool {
	for _, a := range use.Vals[1] {
		if base, ok := a.BaseName(); ok && !clients[base] {
			return false
		}
	}
	return slices.ContainsFunc(pkg.Imports(), func(p *types.Package) bool {
		return strings.HasPrefix(p.Path(), "github.com/docker/docker/client") || strings.HasPrefix(p.Path(), "github.com/moby/moby/client")
	})
}

// keptElsewhere reports whether the environment is state that a seam or backend package keeps in a value of its own: it answers for it.
func keptElsewhere(index *directive.Index, result *flow.Result, use *flow.Use) bool {
	call, ok := use.Instr.(ssa.CallInstruction)
	if !ok || use.From == nil {
		return false
	}
	for _, c := range result.Callees(call.Common()) {
		if c.Fn != nil || c.Obj == nil || index.PackageOf(c.Obj.Pkg()) == (directive.PackageFact{}) {
			return false
		}
	}
	for _, a := range use.From.Vals[0] {
		if a.Kind == flow.Param && len(a.Path) < 2 {
			return false
		}
	}
	return true
}

// started judges the start of a command.
func started(result *flow.Result, use *flow.Use) string {
	env, path := use.Vals[0], use.Vals[1]
	if client(path) {
		return ""
	}
	if why := given(env, "the command"); why != "" {
		if use.From != nil && own(result, use) && given(use.From.Vals[0], "") != "" {
			return ""
		}
		return why
	}
	if tool(path) {
		return ""
	}
	const all = "hands the host's whole environment to the command: "
	if call, ok := use.Instr.(ssa.CallInstruction); ok && use.From == nil {
		if set, missing := envSet(result, call); missing {
			return all + "its Env is set only on some paths"
		} else if set {
			return ""
		}
	}
	if unset(env) {
		if use.From != nil && own(result, use) && unset(use.From.Vals[0]) && !client(use.From.Vals[1]) && !tool(use.From.Vals[1]) {
			return ""
		}
		return all + "its Env is nil"
	}
	return ""
}

// own reports whether the function called is of this package, so that a finding in it has been reported there.
func own(result *flow.Result, use *flow.Use) bool {
	call, ok := use.Instr.(ssa.CallInstruction)
	if !ok {
		return true
	}
	for _, c := range result.Callees(call.Common()) {
		if c.Fn == nil {
			return false
		}
	}
	return true
}

// unset reports whether an environment is nil whatever happens.
func unset(env flow.Value) bool {
	for _, a := range env {
		if a.Kind != flow.Nil {
			return false
		}
	}
	return true
}

// given says what of the host is in an environment given to something, or "".
func given(env flow.Value, to string) string {
	if flow.FromHost(env) {
		return "hands the host's environment to " + to + ": os.Environ"
	}
	name := ""
	env.Walk(func(a flow.Alt) bool {
		if v, ok := strings.CutPrefix(a.Text, "env:"); ok && a.Kind == flow.Tag && credential.MatchString(v) {
			name = v
		}
		return name == ""
	})
	if name != "" {
		return fmt.Sprintf("puts the credential %s in the environment of %s; use Credentials", name, to)
	}
	return ""
}

// credential matches names of variables that hold one.
var credential = regexp.MustCompile(`(?i)(^|_)(token|secret|secrets|password|passwd|pass|passphrase|credentials?|api_?key|apikey|access_?key|access_?key_?id|private_?key|signing_?key|auth|bearer|pat|key)($|_)|(token|secret|password|apikey)$`)

// clients are the command-line clients of engines: the engine starts the sandbox, with the environment it is told.
var clients = names(`docker podman nerdctl ctr crictl buildah docker-compose podman-compose finch lima limactl kubectl`)

// tools are programs of the host that no sandbox consists of.
var tools = names(`git go tar cp mv rm mkdir mount umount fusermount fusermount3 ip iptables ip6tables nft tc sysctl modprobe id uname getent getconf
	newuidmap newgidmap systemctl loginctl cat ls find df du stat ldconfig file which mkfs.ext4 losetup rsync gzip zstd sha256sum gpg cosign`)

func names(list string) map[string]bool {
	m := make(map[string]bool)
	for _, n := range strings.Fields(list) {
		m[n] = true
	}
	return m
}

func client(path flow.Value) bool { return all(path, clients) }
func tool(path flow.Value) bool   { return all(path, tools) }

func all(path flow.Value, names map[string]bool) bool {
	for _, a := range path {
		base, ok := a.BaseName()
		if !ok || !names[base] {
			return false
		}
	}
	return len(path) > 0
}
