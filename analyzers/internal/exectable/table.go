package exectable

// A Start is a function that starts a program, or makes the value that will.
type Start struct {
	// Path is the index of the argument that names the program. Methods count their receiver as argument 0.
	Path int

	// Args is the index of the argument that holds the argument list; -1 when there is none.
	Args int

	// WithName says that the list's first element is the program's name again (argv[0]).
	WithName bool

	// Env is the index of an argument that is the environment as a list of "name=value", or of a struct with such a field
	// called EnvField; -1 when there is none.
	Env      int
	EnvField string

	// CommandLine says that Args is one string, which the system splits (Windows).
	CommandLine bool
}

// Starts are the functions that start a program, by full name.
var Starts = map[string]Start{
	"os/exec.Command":                         {Path: 0, Args: 1, Env: -1},
	"os/exec.CommandContext":                  {Path: 1, Args: 2, Env: -1},
	"golang.org/x/sys/execabs.Command":        {Path: 0, Args: 1, Env: -1},
	"golang.org/x/sys/execabs.CommandContext": {Path: 1, Args: 2, Env: -1},

	"os.StartProcess": {Path: 0, Args: 1, WithName: true, Env: 2, EnvField: "Env"},

	"syscall.Exec":         {Path: 0, Args: 1, WithName: true, Env: 2},
	"syscall.ForkExec":     {Path: 0, Args: 1, WithName: true, Env: 2, EnvField: "Env"},
	"syscall.StartProcess": {Path: 0, Args: 1, WithName: true, Env: 2, EnvField: "Env"},

	"golang.org/x/sys/unix.Exec": {Path: 0, Args: 1, WithName: true, Env: 2},

	// Windows: a pointer to UTF-16 text made by UTF16PtrFromString, which the value analysis looks through.
	"syscall.CreateProcess":                        {Path: 0, Args: 1, CommandLine: true, Env: -1},
	"syscall.CreateProcessAsUser":                  {Path: 1, Args: 2, CommandLine: true, Env: -1},
	"golang.org/x/sys/windows.CreateProcess":       {Path: 0, Args: 1, CommandLine: true, Env: -1},
	"golang.org/x/sys/windows.CreateProcessAsUser": {Path: 1, Args: 2, CommandLine: true, Env: -1},
	"golang.org/x/sys/windows.ShellExecute":        {Path: 2, Args: 3, CommandLine: true, Env: -1},
}

// Makers are the entries of Starts that return an *exec.Cmd instead of starting at once.
var Makers = map[string]bool{
	"os/exec.Command":                         true,
	"os/exec.CommandContext":                  true,
	"golang.org/x/sys/execabs.Command":        true,
	"golang.org/x/sys/execabs.CommandContext": true,
}

// Cmd is the type whose Path, Args and Env fields say what its start methods run.
const Cmd = "os/exec.Cmd"

// StartMethods start the program that an *exec.Cmd holds.
var StartMethods = map[string]bool{
	"(*os/exec.Cmd).Run":            true,
	"(*os/exec.Cmd).Start":          true,
	"(*os/exec.Cmd).Output":         true,
	"(*os/exec.Cmd).CombinedOutput": true,
}

// HarmlessMethods look at an *exec.Cmd and start nothing.
var HarmlessMethods = map[string]bool{
	"(*os/exec.Cmd).String":  true,
	"(*os/exec.Cmd).Environ": true,
}
