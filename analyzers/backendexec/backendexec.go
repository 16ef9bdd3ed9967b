package backendexec

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/argv"
	"github.com/sbxkit/sbxkit/analyzers/internal/directive"
	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
	"github.com/sbxkit/sbxkit/analyzers/internal/rule"
	"golang.org/x/tools/go/analysis"
)

//go:embed doc.go
var doc string

// Analyzer is the backendexec rule.
var Analyzer = rule.New(&analysis.Analyzer{
	Name:     "backendexec",
	Doc:      rule.Doc(doc),
	Run:      run,
	Requires: []*analysis.Analyzer{directive.Analyzer, flow.Analyzer},
})

// run reports starts whose program may be a backend's, by base name, and calls into engine client packages. It assumes that whatever
// makes an exec.Cmd means to start it, unless the Cmd is only looked at.
func run(pass *analysis.Pass) (any, error) {
	index := pass.ResultOf[directive.Analyzer].(*directive.Index)
	if !index.Outside() {
		return nil, nil
	}
	clients(pass)
	result := pass.ResultOf[flow.Analyzer].(*flow.Result)
	names := rule.Current().ProgramNames()
	for _, use := range result.Uses {
		if use.Kind != flow.Start {
			continue
		}
		name, at, ok := backend(&use.Sink, names)
		if !ok {
			continue
		}
		if use.From != nil {
			if _, _, reported := backend(use.From, names); reported {
				continue
			}
		}
		d := analysis.Diagnostic{Pos: use.Pos, Message: fmt.Sprintf(
			"starts the sandbox backend's program %q outside the seam (%s); launch through the seam instead", name, use.Chain())}
		d.Related = result.Related(use.Via)
		if at.Pos().IsValid() && pass.Fset.Position(at.Pos()) != pass.Fset.Position(use.Pos) {
			d.Related = append(d.Related, analysis.RelatedInformation{Pos: at.Pos(), Message: fmt.Sprintf("%q comes from here", name)})
		}
		pass.Report(d)
	}
	return nil, nil
}

// backend returns the first of names that the sink may start.
func backend(s *flow.Sink, names []string) (string, flow.Alt, bool) {
	for _, a := range s.Vals[flow.StartPath] {
		if base, ok := a.BaseName(); ok && slices.Contains(names, base) {
			return base, a, true
		}
	}
	for _, c := range argv.Commands(s.Vals[flow.StartArgv]) {
		if len(c.Via) > 0 && slices.Contains(names, c.Name) {
			return c.Name, c.Prog, true
		}
	}
	return "", flow.Alt{}, false
}

// engineClients are the packages, with those below them, that speak to a container engine.
var engineClients = []string{
	"github.com/docker/docker/client",
	"github.com/moby/moby/client",
	"github.com/docker/go-sdk/client",
	"github.com/fsouza/go-dockerclient",
	"github.com/samalba/dockerclient",
	"github.com/containers/podman/v3/pkg/bindings",
	"github.com/containers/podman/v4/pkg/bindings",
	"github.com/containers/podman/v5/pkg/bindings",
	"github.com/containers/podman/v6/pkg/bindings",
	"github.com/containerd/containerd/client",
	"github.com/containerd/containerd/v2/client",
	"github.com/containerd/containerd",
	"github.com/testcontainers/testcontainers-go",
	"github.com/ory/dockertest",
	"k8s.io/cri-client/pkg",
}

func engineClient(path string) bool {
	for _, c := range engineClients {
		if path == c || strings.HasPrefix(path, c+"/") && c != "github.com/containerd/containerd" {
			return true
		}
	}
	return false
}
