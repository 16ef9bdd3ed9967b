// Package unsandboxed defines an analyzer that finds commands which run without a sandbox where one could not be had.
//
// # Analyzer unsandboxed
//
// unsandboxed: report a fallback to running without a sandbox
//
// A program that runs a command outside the sandbox whenever the sandbox cannot be had is as safe as its worst day: whoever breaks the engine,
// removes bwrap or fills the disk gets the host. Nobody is told, since the command succeeds.
//
// An attempt to have a sandbox is a Probe, Ensure, Plan, Prepare, Launch, Run or Wait of the seam, making a backend or a driver, a look for a backend's
// program or socket (exec.LookPath, os.Stat), running that program, a call of a container engine's client library, or a function, of this package or another, whose error, boolean or other result
// tells of the failure of one. A branch of failure is what the failing side of a condition on that result reaches and the other side does not. Reported
// is, in such a branch,
//
//   - a call into a backend that isolates nothing, directly or through helpers; one that was made before and is used there; WithMode(Disabled);
//   - the start of the command that the function otherwise hands to a sandbox, by os/exec or any other way, directly or through helpers,
//     function values and the methods of a value that is chosen there;
//   - the command returned as it came by a function that otherwise wraps it;
//
// and a loop that takes the first backend that works, when one of them isolates nothing.
//
// Bad:
//
//	if _, err := box.Probe(ctx); err != nil {
//		return exec.Command(argv[0], argv[1:]...).Run()
//	}
//
//	b, err := bwrap.New(bwrap.Options{})
//	if err != nil {
//		return local.New(local.Options{})
//	}
//
// Good: refuse.
//
//	if _, err := box.Probe(ctx); err != nil {
//		return fmt.Errorf("no sandbox: %w", err)
//	}
//
// Good: in a seam package, leave the choice to the seam, which makes it on Unsupported from the probe alone and tells it in the Facts.
//
//	sbx.New(b, sbx.WithMode(sbx.Preferred), sbx.WithUnsandboxed(l))
//
// Not reported are that construction, a backend that isolates nothing and is chosen openly (not by a failure), a failure that goes on to another
// sandbox, a start that has nothing to do with the launch, one that happens whether there was a failure or not, and the command returned
// beside an error. A command is the same as the launch's when its program comes from the same variable, field or constant; where the function launches
// nothing itself, when it is the function's own parameter.
//
// # How to allow it
//
//	return local.New(local.Options{}) //sbx:allow unsandboxed <reason>
//
// # What it cannot see
//
// A failure that is told through a channel, a collection, a number without a type of its own, or an exit code. Which of two values behind one interface
// a second try goes to. A sandbox that is not of the seam nor of a known backend's program. A fallback in another process or by configuration: one that is
// written down for the next start. A command rebuilt from text that shares no variable with the launch, and a constant command started by a helper of
// another package. A backend that isolates nothing behind a value that another package keeps in a variable, and the element of a list that a function
// of another package picks. A loop over backends by recursion.
package unsandboxed
