package tools

import (
	"errors"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// Envelope is an error as a model reads it: what sort it is, where it happened, and what to do next.
type Envelope struct {
	// Kind is one of the seam's five kinds, or "request" for a request that cannot be understood.
	Kind    string `json:"kind"`
	Step    string `json:"step"`
	Message string `json:"message"`
	Cure    string `json:"cure,omitempty"`
	// Left is what could not be confirmed to be gone, with the command that settles it.
	Left []sbx.Leftover `json:"left,omitempty"`
}

// BadRequest is a request that cannot be understood.
type BadRequest struct{ Message, Cure string }

func (b *BadRequest) Error() string { return b.Message + "; " + b.Cure }

// EnvelopeOf gives the envelope of an error; nil for nil. An error that is neither a Failure nor a BadRequest is of a kind nobody foresaw, and
// so Uncertain.
func EnvelopeOf(err error) *Envelope {
	if err == nil {
		return nil
	}
	var bad *BadRequest
	if errors.As(err, &bad) {
		return &Envelope{Kind: "request", Step: "request", Message: bad.Message, Cure: bad.Cure}
	}
	f := sbx.AsFailure(err, sbx.Uncertain)
	e := &Envelope{Kind: string(f.Kind), Step: string(f.Step), Message: f.Message, Cure: f.Cure, Left: f.Left}
	if e.Step == "" {
		e.Step = string(sbx.StepCapture)
	}
	if e.Cure == "" {
		e.Cure = cures[f.Kind]
	}
	return e
}

// cures are what to do about a failure that does not say so itself.
var cures = map[sbx.Kind]string{
	sbx.Unsupported: "run sbxctl doctor, which says what this host can do and how to get the rest",
	sbx.Denied:      "ask for less, or change the policy in the backend's spec",
	sbx.Setup:       "mend what the message names and ask again; nothing ran",
	sbx.Command:     "correct the command and ask again",
	sbx.Uncertain:   "do not ask again blindly: look first whether the command had an effect, and run sbxctl reconcile",
}
