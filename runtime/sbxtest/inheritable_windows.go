package sbxtest

import "errors"

// inheritable has no counterpart here: no process backend runs on Windows.
func inheritable() (fds [2]int, closed func(), err error) {
	return fds, nil, errors.ErrUnsupported
}
