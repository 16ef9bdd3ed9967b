// Package livenessstdin defines an analyzer that keeps liveness hooks away from the agent's stdin.
//
// # Analyzer livenessstdin
//
// livenessstdin: report a liveness hook that reaches the agent's stdin
//
// A hook that types something to see whether the agent answers changes what it watches: the bytes land in the middle of a prompt, a close
// ends the agent, a read takes input away from it. A hook looks at output, files, the process or the heartbeat descriptor.
//
// A hook is what becomes Launch.Liveness, what is converted to a type marked //sbx:liveness or implements such an interface, and a function so
// marked. Reported is each use of stdin that a hook can reach: Run.Stdin and Run.CloseWrite, the StdinPipe and Stdin of an exec.Cmd that the
// hook was given, os.Stdin and what reads it by itself (fmt.Scan), descriptor 0 by number or by name (/dev/stdin), and a variable or field that holds one
// of them, wrapped or not. The way there may lead through calls, closures, goroutines, defers, method values, function values, interfaces, generics and
// other packages; the message names it.
//
// Bad:
//
//	func (s *Session) Alive(ctx context.Context, v sbx.LivenessView) error {
//		return s.ping() // ping writes to s.run.Stdin()
//	}
//
// Good:
//
//	func (s *Session) Alive(ctx context.Context, v sbx.LivenessView) error {
//		if time.Since(v.LastOutput) > time.Minute {
//			return errors.New("no output for a minute")
//		}
//		return nil
//	}
//
// Not reported are the same uses from elsewhere, the stdin of a command that the hook itself starts, and a comparison with nil.
//
// # How to allow it
//
//	s.run.Stdin().Write(ping) //sbx:allow livenessstdin <reason>
//
// # What it cannot see
//
// A stream that comes out of a channel of another package, reflection, unsafe or cgo, or out of a collection kept in a field of another module's type.
// A descriptor number that is computed, read from a file or duplicated from 0 earlier. A function value that another module keeps and
// calls later. An interface of the standard library (io.Writer) behind which an own type writes to stdin, where the value is not known. Fields
// are seen per type and not per value: when one value of a type keeps stdin in a field, every hook that uses that field of any value is reported.
package livenessstdin
