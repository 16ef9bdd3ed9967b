package sbxtest

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// Program is what a command of the suite does: its acts in order, and then exit status 0.
type Program []Act

// Act is one thing a command does. Which fields count depends on Do.
type Act struct {
	Do   Verb          `json:"do"`
	Text string        `json:"text,omitempty"`
	Path string        `json:"path,omitempty"`
	N    int           `json:"n,omitempty"`
	For  time.Duration `json:"for,omitempty"`
}

// Verb is a kind of act. The set is closed.
type Verb string

// The verbs. What an act writes goes to stdout, and is followed by a line break where it is text.
const (
	DoPrint    Verb = "print"     // writes Text
	DoPrintErr Verb = "print-err" // writes Text to stderr
	DoExit     Verb = "exit"      // ends with status N
	DoDie      Verb = "die"       // sends itself signal N
	DoCat      Verb = "cat"       // copies stdin to stdout until its end
	DoReply    Verb = "reply"     // answers each line of stdin with a line "re:" and the line, until its end
	DoEnviron  Verb = "environ"   // writes its environment, a variable a line
	DoSleep    Verb = "sleep"     // does nothing for For
	DoHang     Verb = "hang"      // does nothing until it is ended from outside
	DoIgnore   Verb = "ignore"    // takes no notice of signal N from here on
	DoTrap     Verb = "trap"      // on TERM, from here on: writes Text and ends with status N
	DoSpew     Verb = "spew"      // writes N zero bytes
	DoCount    Verb = "count"     // writes N lines "line 0", "line 1", …
	DoLeave    Verb = "leave"     // leaves a process behind that holds both output streams open for For
	DoWrite    Verb = "write"     // writes Text to the file Path, and then the line "written", or "refused"
	DoRead     Verb = "read"      // writes the content of the file Path, or the line "absent"
	DoDir      Verb = "dir"       // writes its working directory
	DoHost     Verb = "host"      // writes its host name
	DoUser     Verb = "user"      // writes its user id and its group id, a line each
	DoSpin     Verb = "spin"      // uses a CPU until it is ended
	DoAllocate Verb = "allocate"  // asks for N bytes of memory and holds them, without an end
)

// Commands gives the words of a command that does p. An error says why there is no such command for a backend: the checks that need it are
// reported as gaps, with that reason.
type Commands func(p Program) ([]string, error)

// Shell spells programs as words of a POSIX shell, /bin/sh, with cat, env, head, id and sleep beside it.
func Shell(p Program) ([]string, error) {
	var b strings.Builder
	handled := false // a signal is ignored or trapped: the shell itself has to stay
	for _, a := range p {
		text, file := runtime.ShellQuote(a.Text), runtime.ShellQuote(a.Path)
		switch a.Do {
		case DoPrint:
			fmt.Fprintf(&b, "echo %s\n", text)
		case DoPrintErr:
			fmt.Fprintf(&b, "echo %s >&2\n", text)
		case DoExit:
			fmt.Fprintf(&b, "exit %d\n", a.N)
		case DoDie:
			fmt.Fprintf(&b, "kill -%s $$\n", runtime.SignalName(syscall.Signal(a.N)))
		case DoCat:
			b.WriteString("cat\n")
		case DoReply:
			b.WriteString("while read -r line; do echo \"re:$line\"; done\n")
		case DoEnviron:
			b.WriteString("env\n")
		case DoSleep:
			fmt.Fprintf(&b, "sleep %s\n", seconds(a.For))
		case DoHang:
			if handled {
				b.WriteString("while :; do sleep 0.1; done\n")
			} else {
				b.WriteString("exec sleep 100000\n")
			}
		case DoIgnore:
			handled = true
			fmt.Fprintf(&b, "trap '' %s\n", runtime.SignalName(syscall.Signal(a.N)))
		case DoTrap:
			handled = true
			fmt.Fprintf(&b, "trap %s TERM\n", runtime.ShellQuote(fmt.Sprintf("echo %s; exit %d", text, a.N)))
		case DoSpew:
			fmt.Fprintf(&b, "head -c %d /dev/zero\n", a.N)
		case DoCount:
			fmt.Fprintf(&b, "i=0; while [ $i -lt %d ]; do echo \"line $i\"; i=$((i+1)); done\n", a.N)
		case DoLeave:
			fmt.Fprintf(&b, "sleep %s &\n", seconds(a.For))
		case DoWrite:
			fmt.Fprintf(&b, "if (printf %%s %s > %s) 2>/dev/null; then echo written; else echo refused; fi\n", text, file)
		case DoRead:
			fmt.Fprintf(&b, "cat %s 2>/dev/null || echo absent\n", file)
		case DoDir:
			b.WriteString("pwd\n")
		case DoHost:
			b.WriteString("cat /proc/sys/kernel/hostname\n")
		case DoUser:
			b.WriteString("id -u; id -g\n")
		case DoSpin:
			b.WriteString("while :; do :; done\n")
		case DoAllocate:
			// A word is doubled until it is as long: the shell itself needs the memory.
			fmt.Fprintf(&b, "x=x; n=1; while [ $n -lt %d ]; do x=$x$x; n=$((n*2)); done; while :; do sleep 1; done\n", a.N)
		default:
			return nil, fmt.Errorf("the shell has no word for %q", a.Do)
		}
	}
	return []string{"/bin/sh", "-c", b.String()}, nil
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

func say(text string) Act              { return Act{Do: DoPrint, Text: text} }
func sayErr(text string) Act           { return Act{Do: DoPrintErr, Text: text} }
func exit(code int) Act                { return Act{Do: DoExit, N: code} }
func act(v Verb) Act                   { return Act{Do: v} }
func wait(d time.Duration) Act         { return Act{Do: DoSleep, For: d} }
func ignore(s syscall.Signal) Act      { return Act{Do: DoIgnore, N: int(s)} }
func spew(n int) Act                   { return Act{Do: DoSpew, N: n} }
func write(path, text string) Act      { return Act{Do: DoWrite, Path: path, Text: text} }
func read(path string) Act             { return Act{Do: DoRead, Path: path} }
func onTerm(text string, code int) Act { return Act{Do: DoTrap, Text: text, N: code} }
func leaveBehind(d time.Duration) Act  { return Act{Do: DoLeave, For: d} }
