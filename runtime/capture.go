package runtime

// ran reports whether the outcome is the end of a command that ran and was witnessed, so that what it left can be exported.
func (o Outcome) ran() bool {
	switch o {
	case Exited, Signaled, TimedOut, Canceled, OutOfMemory, OutputLimit:
		return true
	}
	return false
}
