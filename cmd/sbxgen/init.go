package main

import (
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sbxkit/sbxkit/spec"
)

// starter is a spec that extends a built-in one and changes nothing yet.
const starter = `# A sandbox of your own. It takes everything from the built-in spec %[2]q; what you write below is merged into it.
# sbxgen explain %[2]s says what can stand here; sbxgen diff %[2]s %[1]s.yaml says what you changed.
sbx: 1
backend: %[1]s
extends: %[2]s
summary: The sandbox of this project.

policy:
  environment:
    deny: [AWS_*]
  limits:
    open-files: 512
`

// hook is the Go file that makes go generate run sbxgen.
const hook = `package %s

//` + `go:generate go tool sbxgen generate %s
`

func newInit() *cobra.Command {
	var extends, pkg string
	c := &cobra.Command{
		Use:   "init [NAME]",
		Short: "Start a spec that extends a built-in one",
		Long: "Start a spec of NAME (sandbox by default) that extends a built-in one, in the current directory, with the Go file that makes\n" +
			"go generate run sbxgen. Nothing that is there is overwritten.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "sandbox"
			if len(args) == 1 {
				name = args[0]
			}
			if !token.IsIdentifier(name) {
				return fmt.Errorf("%q cannot be a backend's name: it becomes a Go package (lower-case letters and digits)", name)
			}
			if !slices.Contains(spec.Builtins(), extends) {
				return fmt.Errorf("there is no built-in spec %q; there are %v", extends, spec.Builtins())
			}
			if pkg == "" {
				pkg = packageHere()
			}
			out := cmd.OutOrStdout()
			for _, f := range []struct{ name, text string }{
				{name + ".yaml", fmt.Sprintf(starter, name, extends)},
				{"generate_" + name + ".go", fmt.Sprintf(hook, pkg, name+".yaml")},
			} {
				if err := create(f.name, f.text); err != nil {
					return err
				}
				fmt.Fprintf(out, "%s: written\n", f.name)
			}
			fmt.Fprintf(out, "\nnext: go get -tool github.com/sbxkit/sbxkit/cmd/sbxgen && go generate . && go test ./%s -update\n", name)
			return nil
		},
	}
	c.Flags().StringVar(&extends, "extends", "bwrap", "the built-in spec to start from")
	c.Flags().StringVar(&pkg, "package", "", "name of the Go package here (default: the directory's)")
	return c
}

// packageHere guesses the name of the Go package in the current directory.
func packageHere() string {
	if dir, err := os.Getwd(); err == nil && token.IsIdentifier(filepath.Base(dir)) {
		return filepath.Base(dir)
	}
	return "main"
}

// create writes a file that is not there yet.
func create(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already; remove it first, or choose another name", name)
	}
	if err != nil {
		return fmt.Errorf("writing the starter: %w", err)
	}
	if _, err := f.WriteString(text); err != nil {
		return errors.Join(fmt.Errorf("writing the starter: %w", err), f.Close())
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("writing the starter: %w", err)
	}
	return nil
}
