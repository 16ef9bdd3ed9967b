// Package dep starts what it is given.
package dep

import (
	"os/exec"

	"local"
)

//sbx:launch
type Launch struct{ Argv []string }

// Run starts a program.
func Run(name string, args ...string) error {
	return exec.Command(name, args...).Run() // want `start exec.Command: l\(P,p\(P1,\),\)`
}

// Option starts a program with an option and what is given.
func Option(o Options) { Run(o.Bin, append([]string{"-v"}, o.Args...)...) } // want `start Run → exec.Command: .*l\(\?\|P.Bin,s"-v",p\(P.Args,\),\)`

// Options are given.
type Options struct {
	Bin  string
	Args []string
}

// Make fills a launch.
func Make(argv []string) Launch {
	return Launch{Argv: append([]string{"env"}, argv...)} // want `launch dep.Launch.Argv: l\(s"env",p\(P,\),\)`
}

// Each calls f.
func Each(list []string, f func(string)) {
	for _, n := range list {
		f(n)
	}
}

// Open opens.
func Open() (int, error) { return local.New() } // want `unsandboxed local.New`
