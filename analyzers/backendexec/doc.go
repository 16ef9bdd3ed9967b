// Package backendexec defines an analyzer that keeps the backends' programs behind the seam.
//
// # Analyzer backendexec
//
// backendexec: report a backend's program started, or an engine client used, outside the seam
//
// Who starts docker or bwrap by hand gets a sandbox that nobody planned, attests, journals or removes. The names come from the
// backends' specs: bwrap, docker, podman, nerdctl and whatever else they declare.
//
// Reported is each way of starting such a program: os/exec, an exec.Cmd put together by hand, os.StartProcess, syscall and
// golang.org/x/sys, also behind prefixes such as sudo, env, nice or timeout, with the name written out, put together, or taken from a constant, a
// variable, a field, a map or a list, in this package or another. When a function of another package, or of this one, starts whatever it is
// given, the call that gives it the name is reported. So is the use of an engine's client library.
//
// Bad:
//
//	exec.Command("docker", "run", image).Run()
//	runner.Start("podman")           // runner.Start calls exec.Command(name)
//
// Good:
//
//	sandbox.Run(ctx, sbx.Launch{Argv: []string{"make", "test"}})
//
// Not reported are exec.LookPath, names that are printed or compared, an exec.Cmd that is only printed, programs whose name merely ends in one of the
// names, and the use of a client library in the module that makes it.
//
// # How to allow it
//
//	exec.Command("docker", "version").Run() //sbx:allow backendexec <reason>
//
// # What it cannot see
//
// A name read from a file, a flag, the environment or the network; one that comes out of a channel that is a parameter or another package's; one
// that reflection, unsafe or cgo hands over; a raw execve system call by number. A function value that another package keeps in an unexported
// collection is not followed. Of a function that starts more than 32 different things with what it is given, or whose arguments grow beyond measure from
// call to call, the last are not seen. A program that starts the backend itself (make, a script) is not looked into.
package backendexec
