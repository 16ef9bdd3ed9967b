package a

import "testing"

// An exit code other than 0 is one that something ended with.
func notZero(s *state) bool { return s.ExitCode == 137 || 128+9 == int64(s.ExitCode) }

func zero(s *state) bool { return s.ExitCode == 0 } // want `exit code of a.state is read without the running flag`

func ofTwo(s, t *state) bool { return s.ExitCode == t.ExitCode } // want `exit code of a.state` `exit code of a.state`

func lookedByHelper(i *inspect) int {
	if ended(i) {
		return i.State.ExitCode
	}
	return -1
}

func ended(i *inspect) bool { return !i.State.Running }

func made(code int) int {
	s := &state{Running: false, ExitCode: code}
	return s.ExitCode
}

func madeWithout(code int) int {
	s := &state{ExitCode: code}
	return s.ExitCode // want `exit code of a.state`
}

func message(t *testing.T, s *state) {
	if s.ExitCode != 3 {
		t.Errorf("exit code %d", s.ExitCode)
	}
}
