package attest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// Expect is what the claims of a plan come to for one process.
type Expect struct {
	Request *runtime.Request
	// Launcher is the pid of the launcher, of which the process descends; 0 where the command has none. What the launcher inherited from us is
	// told apart from what the sandbox added by comparing with it.
	Launcher int
	// Descriptors are the numbers the command has open, sorted; used by ClaimDescriptors.
	Descriptors []int
	// Closing are descriptors that the launcher closes itself before it executes the command; used by Inherited.
	Closing []int
	// Added are variables the launcher sets itself; PWD is the command's directory.
	Added []string
	// Proven are the guarantees the probe has shown by behaviour.
	Proven []runtime.Guarantee
	// ReadLimit reads back a limit that is not one of the kernel's limits of a process: its value in the claim's words, and where it was
	// read. Nil where there is none.
	ReadLimit func(name string) (value, evidence string, err error)
}

// Claims that are no feature a launch can ask for.
const (
	ClaimDescriptors = "streams.descriptors"
	ClaimMounts      = "mount"
)

// Subject is a process that stands still while it is measured. It is not safe for concurrent use.
type Subject struct {
	pid    int
	base   string // /proc/<pid>
	expect *Expect

	status    *Status
	statusErr error
	root      int
	rootErr   error
}

// NewSubject gives the subject of pid. Close gives back what it holds.
func NewSubject(pid int, e *Expect) *Subject {
	return &Subject{pid: pid, base: "/proc/" + strconv.Itoa(pid), expect: e, root: -1}
}

// Close gives back what the subject holds open.
func (s *Subject) Close() {
	if s.root >= 0 {
		unix.Close(s.root)
		s.root = -1
	}
}

func (s *Subject) readStatus() (*Status, error) {
	if s.status == nil && s.statusErr == nil {
		s.status, s.statusErr = ReadStatus(s.pid)
	}
	return s.status, s.statusErr
}

// rootDir is the process's root directory, by a descriptor that only names it.
func (s *Subject) rootDir() (int, error) {
	if s.root < 0 && s.rootErr == nil {
		s.root, s.rootErr = unix.Open(s.base+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if s.rootErr != nil {
			s.root = -1
		}
	}
	return s.root, s.rootErr
}

// verdict is what one measurement came to.
type verdict struct {
	measured runtime.Measured
	evidence string
}

func holds(format string, args ...any) verdict {
	return verdict{runtime.MeasuredHolds, fmt.Sprintf(format, args...)}
}

func broken(format string, args ...any) verdict {
	return verdict{runtime.MeasuredBroken, fmt.Sprintf(format, args...)}
}

func unknown(err error) verdict {
	return verdict{runtime.MeasuredUnknown, "could not be read: " + err.Error()}
}

func hold(ok bool, format string, args ...any) verdict {
	if ok {
		return holds(format, args...)
	}
	return broken(format, args...)
}

// measures has the way to measure each claim, by name.
var measures = map[string]func(*Subject, runtime.Claim) verdict{
	"hardening.no-new-privileges":  (*Subject).noNewPrivileges,
	"hardening.capabilities":       (*Subject).capabilities,
	"hardening.pid-namespace":      namespace("pid"),
	"hardening.ipc-namespace":      namespace("ipc"),
	"hardening.uts-namespace":      namespace("uts"),
	"hardening.user-namespace":     namespace("user"),
	"hardening.cgroup-namespace":   namespace("cgroup"),
	"hardening.user-namespace-off": (*Subject).userNamespaceOff,
	"hardening.read-only-root":     (*Subject).readOnlyRoot,
	"hardening.new-session":        (*Subject).newSession,
	"hardening.parent-death":       (*Subject).parentDeath,
	"hardening.init":               (*Subject).init,
	"hardening.seccomp":            (*Subject).seccomp,
	"hardening.seccomp-profile":    (*Subject).seccomp,
	"hardening.apparmor":           (*Subject).appArmor,
	"network.none":                 (*Subject).network,
	"network.egress":               (*Subject).network,
	"user.id":                      (*Subject).user,
	"user.caller":                  (*Subject).user,
	"workdir":                      (*Subject).workdir,
	"environment":                  (*Subject).environment,
	"command":                      (*Subject).command,
	ClaimDescriptors:               (*Subject).descriptors,
	ClaimMounts:                    (*Subject).mounts,
}

// Measure compares one claim with the kernel's record.
func (s *Subject) Measure(c runtime.Claim, when string) runtime.Guarantee {
	g := runtime.Guarantee{Name: c.Name, Claimed: c.Value, Required: c.Required, When: when}
	v := verdict{runtime.MeasuredClaimed, "the kernel keeps no record of it"}
	if f, ok := measures[c.Name]; ok {
		v = f(s, c)
	} else if strings.HasPrefix(c.Name, "limits.") {
		v = s.limit(c)
	}
	g.Measured, g.Evidence = v.measured, v.evidence
	for _, p := range s.expect.Proven {
		if p.Name == c.Name && v.measured == runtime.MeasuredBehaves {
			g.When = p.When
		}
	}
	return g
}

// ours are this process's own namespaces, by kind. A program that moves into another one later measures against where it began.
var ours = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for _, kind := range []string{"pid", "ipc", "uts", "user", "cgroup", "net", "mnt"} {
		if l, err := os.Readlink("/proc/self/ns/" + kind); err == nil {
			m[kind] = l
		}
	}
	return m
})

// link reads a symbolic link of /proc with one call.
func link(path string) (string, error) {
	var buf [4096]byte
	n, err := unix.Readlink(path, buf[:])
	if err != nil {
		return "", &os.PathError{Op: "readlink", Path: path, Err: err}
	}
	return string(buf[:n]), nil
}

// OwnNamespace reports whether a process is in another namespace of a kind (pid, net, …) than this one, and which.
func OwnNamespace(pid int, kind string) (other bool, theirs string, err error) {
	theirs, err = link("/proc/" + strconv.Itoa(pid) + "/ns/" + kind)
	if err != nil {
		return false, "", err
	}
	mine, ok := ours()[kind]
	if !ok {
		return false, theirs, fmt.Errorf("our own %s namespace could not be read", kind)
	}
	return theirs != mine, theirs, nil
}
