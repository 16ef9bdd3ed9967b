package script

import (
	"errors"

	"github.com/sbxkit/sbxkit/runtime"
)

// Definition is what a generated package gives of its backend, and what a test gives of the run.
type Definition struct {
	// Description is the spec's data; never nil, never changed.
	Description *runtime.Description
	// Argv builds the argv of a request: the generated builder, pure.
	Argv func(*runtime.Request) []string
	// Explain gives the same words with their origin, private values replaced.
	Explain func(*runtime.Request) []runtime.Word

	// World holds what exists outside the controller; nil is a new one of this backend's own.
	World *World
	// Script is what every run plays, unless Backend.Play queued another for it; nil exits 0 at once.
	Script *Script
}

func (d Definition) check() error {
	switch {
	case d.Description == nil:
		return errors.New("making a scripted backend: Definition.Description is nil")
	case d.Argv == nil:
		return errors.New("making a scripted backend: Definition.Argv is nil")
	case d.Explain == nil:
		return errors.New("making a scripted backend: Definition.Explain is nil")
	}
	return nil
}
