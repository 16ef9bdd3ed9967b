// Package later keeps what it is given.
package later

import "io"

// Writers are handed from one to another.
var Writers = make(chan io.Writer, 1)

var kept []func() error

// Keep keeps a function.
func Keep(f func() error) { kept = append(kept, f) }

// Call calls what was kept.
func Call() error {
	for _, f := range kept {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

var all []io.Writer

// Wrap keeps a writer and gives one.
func Wrap(w io.Writer) io.Writer {
	all = append(all, w)
	return all[len(all)-1]
}
