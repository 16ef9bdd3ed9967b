package process

import (
	"errors"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/attest"
)

// atExecOnly are the claims that only the command itself can show: before its exec there is the launcher's own process.
var atExecOnly = map[string]bool{
	"hardening.seccomp":     true,
	"hardening.new-session": true,
	"hardening.apparmor":    true,
	"hardening.init":        true,
	"environment":           true,
	"command":               true,
	"workdir":               true,
	attest.ClaimDescriptors: true,
}

// againAtExec are measured at both stops: an exec can give privileges back.
var againAtExec = map[string]bool{
	"hardening.capabilities":      true,
	"hardening.no-new-privileges": true,
}

// setLimits is limit; a test puts one in its place that forgets.
var setLimits = limit

// held limits and measures a held process, before the command exists.
func (s *start) held(pid int, when string) error {
	if err := setLimits(pid, &s.req.Limits); err != nil {
		return err
	}
	s.guarantees = make([]runtime.Guarantee, len(s.plan.Claims))
	subject := attest.NewSubject(pid, s.expect(pid))
	defer subject.Close()
	for i, c := range s.plan.Claims {
		if atExecOnly[c.Name] {
			s.guarantees[i] = runtime.Guarantee{Name: c.Name, Claimed: c.Value, Required: c.Required, Measured: runtime.MeasuredUnknown}
			continue
		}
		g := subject.Measure(c, when)
		if when == runtime.WhenAfterExec && g.Measured == runtime.MeasuredBroken && ended(s.command) {
			g.Measured, g.Evidence = runtime.MeasuredUnknown, endedUnseen
		}
		s.guarantees[i] = g
		if err := s.mismatch(g, when); err != nil {
			return err
		}
	}
	return nil
}

// atExec measures the command stopped at its own exec.
func (s *start) atExec(pid int) error {
	subject := attest.NewSubject(pid, s.expect(pid))
	defer subject.Close()
	for i, c := range s.plan.Claims {
		if !atExecOnly[c.Name] && !againAtExec[c.Name] {
			continue
		}
		g := subject.Measure(c, runtime.WhenExec)
		if againAtExec[c.Name] && g.Measured == s.guarantees[i].Measured {
			continue
		}
		s.guarantees[i] = g
		if err := s.mismatch(g, runtime.WhenExec); err != nil {
			return err
		}
	}
	return nil
}

// lasting are claims of the exec stop that a command cannot change for the worse: a filter stays (seccomp(2)), from a session there is
// no way into another's (setsid(2)), and a process keeps its number.
var lasting = map[string]bool{
	"hardening.init":        true,
	"hardening.seccomp":     true,
	"hardening.new-session": true,
}

// afterExec measures the command while it runs already. A command may change itself, if only by executing something else; what does not hold
// then is not known, except where it cannot be the command's own doing: that ends it, as a mismatch at the stop does.
func (s *start) afterExec(pid int) error {
	const tries = 20
	for i, c := range s.plan.Claims {
		if !atExecOnly[c.Name] || s.guarantees[i].When == runtime.WhenHeld {
			continue
		}
		var g runtime.Guarantee
		for try := range tries {
			g = s.measureNow(pid, c)
			if g.Measured == runtime.MeasuredHolds || ended(s.command) {
				break
			}
			// The kernel fills a new program's memory after the exec can be seen.
			if try < tries-1 {
				time.Sleep(firstPause)
			}
		}
		switch {
		case g.Measured == runtime.MeasuredHolds:
		case ended(s.command):
			g.Measured, g.Evidence = runtime.MeasuredUnknown, endedUnseen
		case g.Measured == runtime.MeasuredBroken && s.notItsOwnDoing(pid, c, &g):
			s.guarantees[i] = g
			if err := s.mismatch(g, runtime.WhenAfterExec); err != nil {
				return err
			}
		default:
			g.Measured, g.Evidence = runtime.MeasuredUnknown, "the command runs and may have changed it itself: "+g.Evidence
		}
		s.guarantees[i] = g
	}
	return nil
}

func (s *start) measureNow(pid int, c runtime.Claim) runtime.Guarantee {
	subject := attest.NewSubject(pid, s.expect(pid))
	defer subject.Close()
	return subject.Measure(c, runtime.WhenAfterExec)
}

// notItsOwnDoing reports whether a running command's mismatch g was there before its first instruction; g is then measured by what shows it.
func (s *start) notItsOwnDoing(pid int, c runtime.Claim, g *runtime.Guarantee) bool {
	switch {
	case lasting[c.Name]:
		return true
	case c.Name == "environment":
		// What /proc shows is where the kernel put it at the exec. A program that executes itself anew with other variables and the very same
		// words is not told apart; one that executes anything else is.
		asked := func() bool {
			return s.measureNow(pid, runtime.Claim{Name: "command"}).Measured == runtime.MeasuredHolds
		}
		if !asked() || !attest.Filled(pid) {
			return false
		}
		*g = s.measureNow(pid, c)
		return g.Measured == runtime.MeasuredBroken && asked()
	case c.Name == "workdir" && s.command != s.first:
		// The first process inside forked the command where it stood itself, and only reaps since.
		*g = s.measureNow(s.firstPID, c)
		return g.Measured == runtime.MeasuredBroken
	}
	return false
}

const endedUnseen = "the command ended before it could be looked at"

// handed is what a process at the gate will hand the command.
type handed struct {
	descriptors, command *runtime.Guarantee // nil where not claimed
	// reason is why it will not become the command, nil where nothing speaks against it.
	reason *runtime.Failure
}

// handed measures, where there is no exec stop, what the process at the gate will hand the command: the descriptors that an exec does not close,
// but for those the launcher itself closes before, and the words it was given. It changes nothing of s.
func (s *start) handed(pid int) (h handed) {
	e := s.expect(pid)
	e.Closing = []int{s.req.Descriptors.Block}
	if fd := s.req.Descriptors.Seccomp; fd > 0 {
		e.Closing = append(e.Closing, fd)
	}
	subject := attest.NewSubject(pid, e)
	defer subject.Close()
	for _, c := range s.plan.Claims {
		switch c.Name {
		case attest.ClaimDescriptors:
			g := subject.Inherited(c, runtime.WhenHeld)
			h.descriptors = &g
		case "command":
			g := subject.Given(c, runtime.WhenHeld)
			h.command = &g
		}
	}
	h.reason = s.judge(pid)
	return h
}

// takeHanded keeps what was measured, or refuses it. That a launcher was given the right words does not show yet that they are executed.
func (s *start) takeHanded(h handed) error {
	for i, c := range s.plan.Claims {
		if h.descriptors != nil && c.Name == h.descriptors.Name {
			s.guarantees[i] = *h.descriptors
		}
	}
	for _, g := range []*runtime.Guarantee{h.descriptors, h.command} {
		if g == nil {
			continue
		}
		if err := s.mismatch(*g, runtime.WhenHeld); err != nil {
			return err
		}
	}
	return nil
}

// missed says of everything that the exec stop shows that it was not seen: the command had ended before it could be looked at.
func (s *start) missed(when string) {
	for i := range s.guarantees {
		if g := &s.guarantees[i]; atExecOnly[g.Name] && g.When != runtime.WhenHeld {
			g.Measured, g.When, g.Evidence = runtime.MeasuredUnknown, when, endedUnseen
		}
	}
}

func (s *start) expect(pid int) *attest.Expect {
	e := &attest.Expect{Request: s.req, Descriptors: commandDescriptors(s.req, s.b.def.Gate), Proven: s.plan.Identity.Proven, ReadLimit: s.readLimit(pid)}
	if s.b.def.Gate == GateBlockFD {
		e.Launcher = s.launcher.pid
		e.Added = []string{"PWD"} // bwrap(1): set to the directory it enters
	}
	return e
}

// errNotKept is the cause of a refusal by what was measured.
var errNotKept = errors.New("measured by the kernel's own record")

// mismatch is the refusal of a required guarantee that does not hold, or that could not be read of a process that stood still.
func (s *start) mismatch(g runtime.Guarantee, when string) error {
	if !g.Required {
		return nil
	}
	ran := "the command has not run"
	if when == runtime.WhenAfterExec {
		ran = "the command was ended"
	}
	switch {
	case g.Measured == runtime.MeasuredBroken:
		return runtime.Fail(runtime.Setup, "%s is claimed (%s) and does not hold: %s; %s", g.Name, g.Claimed, g.Evidence, ran).About(g.Name).
			WithCure("check that %s is what it should be and that nothing stands between it and this program", s.programName()).Because(errNotKept)
	case g.Measured == runtime.MeasuredUnknown && when != runtime.WhenAfterExec:
		return runtime.Fail(runtime.Setup, "%s is claimed (%s) and %s; %s", g.Name, g.Claimed, g.Evidence, ran).About(g.Name).Because(errNotKept)
	}
	return nil
}

func (s *start) programName() string {
	if s.plan.Identity.Program != "" {
		return s.plan.Identity.Program
	}
	return s.b.def.Description.Name
}
