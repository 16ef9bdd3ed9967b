package process

// held limits and measures a held process, before the command exists.
func (s *start) held(pid int, when string) error {
	return limit(pid, &s.req.Limits)
}

// atExec measures the command at its own exec.
func (s *start) atExec(pid int, when string) error {
	return nil
}

// missed says of everything that the exec stop shows that it was not seen.
func (s *start) missed(when string) {}
