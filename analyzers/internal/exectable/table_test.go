package exectable_test

import (
	"go/types"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/analyzers/internal/exectable"
	"golang.org/x/tools/go/packages"
)

// platforms are those whose packages are walked: what starts a program differs from system to system.
var platforms = []string{"linux", "darwin", "windows"}

// suspicious matches the names of functions that may start a program. A new function with such a name, or one whose parameters are those of
// an execve, must be put into the table or on the list below.
var suspicious = regexp.MustCompile(`(?i)exec|spawn|fork|clone|command|startprocess|createprocess|shell|system$|popen|^start$|^run$|output$|posix_spawn`)

// harmless are the functions that look like one and are none, with the reason.
var harmless = map[string]string{
	"os.Executable":                                 "names the running program",
	"syscall.CloseOnExec":                           "a descriptor's flag",
	"syscall.GetCommandLine":                        "reads the program's own",
	"syscall.CommandLineToArgv":                     "splits",
	"syscall.Setprivexec":                           "a flag of the process",
	"golang.org/x/sys/unix.CloseOnExec":             "a descriptor's flag",
	"golang.org/x/sys/unix.Clonefile":               "copies a file",
	"golang.org/x/sys/unix.Clonefileat":             "copies a file",
	"golang.org/x/sys/unix.Fclonefileat":            "copies a file",
	"golang.org/x/sys/unix.IoctlFileClone":          "copies a file",
	"golang.org/x/sys/unix.IoctlFileCloneRange":     "copies a file",
	"golang.org/x/sys/unix.IoctlKCMClone":           "a socket",
	"golang.org/x/sys/unix.KexecFileLoad":           "a kernel",
	"golang.org/x/sys/unix.Setprivexec":             "a flag of the process",
	"golang.org/x/sys/windows.CloseOnExec":          "a handle's flag",
	"golang.org/x/sys/windows.GetShellWindow":       "finds a window",
	"golang.org/x/sys/windows.ComposeCommandLine":   "quotes; the value analysis looks through it",
	"golang.org/x/sys/windows.DecomposeCommandLine": "splits",
	"golang.org/x/sys/windows.CommandLineToArgv":    "splits",
	"golang.org/x/sys/windows.GetCommandLine":       "reads the program's own",
}

func TestEveryWayToStartAProgramIsInTheTable(t *testing.T) {
	found := make(map[string]bool)
	for _, goos := range platforms {
		for _, fn := range load(t, goos) {
			name := fn.FullName()
			found[name] = true
			if start, ok := exectable.Starts[name]; ok {
				if n := fn.Signature().Params().Len(); start.Path >= n || start.Args >= n || start.Env >= n {
					t.Errorf("%s has %d parameters; the table speaks of more", name, n)
				}
				continue
			}
			if exectable.StartMethods[name] || exectable.HarmlessMethods[name] || harmless[name] != "" {
				continue
			}
			if suspicious.MatchString(fn.Name()) || likeExecve(fn.Signature()) {
				t.Errorf("%s: %s%s may start a program: put it into the table, or on the list of those that do not with the reason",
					goos, name, strings.TrimPrefix(fn.Signature().String(), "func"))
			}
		}
	}
	for _, table := range []map[string]bool{keys(exectable.Starts), exectable.StartMethods, exectable.HarmlessMethods, keys(harmless)} {
		for name := range table {
			if !found[name] {
				t.Errorf("%s is listed and exists on none of %v", name, platforms)
			}
		}
	}
}

func keys[V any](m map[string]V) map[string]bool {
	out := make(map[string]bool, len(m))
	for k := range m {
		out[k] = true
	}
	return out
}

// load returns the exported functions of the packages that the table is about, as they are on that system.
func load(t *testing.T, goos string) []*types.Func {
	t.Helper()
	paths := []string{"os", "os/exec", "syscall", "golang.org/x/sys/execabs", "golang.org/x/sys/unix"}
	if goos == "windows" {
		paths[4] = "golang.org/x/sys/windows"
	}
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedExportFile,
		Env:  append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "CGO_ENABLED=0"),
	}, paths...)
	if err != nil {
		t.Fatalf("loading the packages: %v", err)
	}
	var out []*types.Func
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			t.Fatalf("loading %s: %v", p.PkgPath, p.Errors)
		}
		out = append(out, functions(p.Types)...)
	}
	return out
}

// functions returns the exported functions and methods of the package.
func functions(p *types.Package) []*types.Func {
	var out []*types.Func
	for _, name := range p.Scope().Names() {
		switch obj := p.Scope().Lookup(name).(type) {
		case *types.Func:
			if obj.Exported() {
				out = append(out, obj)
			}
		case *types.TypeName:
			if !obj.Exported() || obj.IsAlias() {
				continue
			}
			for sel := range types.NewMethodSet(types.NewPointer(obj.Type())).Methods() {
				if fn, ok := sel.Obj().(*types.Func); ok && fn.Exported() && fn.Pkg() == p {
					out = append(out, fn)
				}
			}
		}
	}
	return out
}

// likeExecve reports whether the signature takes a string and then a list of strings with a name that speaks of arguments.
func likeExecve(sig *types.Signature) bool {
	strs := 0
	for p := range sig.Params().Variables() {
		switch types.TypeString(p.Type(), nil) {
		case "string":
			strs++
		case "[]string":
			if strs > 0 && slices.Contains([]string{"argv", "args", "arg", "envv", "env"}, p.Name()) {
				return true
			}
		}
	}
	return false
}
