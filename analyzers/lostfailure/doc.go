// Package lostfailure defines an analyzer that finds failures of the lifecycle that nobody hears of.
//
// # Analyzer lostfailure
//
// lostfailure: report a failure of the lifecycle that is lost
//
// A sandbox that could not be had, a run that was not removed, an end that nobody witnessed: each comes as an error or as an outcome, and the code
// that drops it goes on as if the command had run and succeeded.
//
// A lifecycle call is a step of the seam (Probe, Plan, Launch, Run, Wait, Stop, Kill, Reap, Remove, Reconcile, Close and their like), or a function, of this
// package or another, that returns such an error, wrapped or not. Reported are
//
//   - its error dropped, by itself or by defer and go, assigned to the blank identifier, or overwritten before anybody looks;
//   - its error only logged or compared with nil, and then success returned or the zero result used;
//   - a Result that is dropped or whose Outcome nobody looks at (Outcome, Failure, Success, Err, ExitCode or handing it on will do);
//   - an exit code read without what says whether it means anything: Result.Code without Outcome, ExitCode without the Running beside it;
//   - Uncertain in one case or condition with other outcomes, compared by order, or answered with success.
//
// Bad:
//
//	defer run.Reap(ctx)
//	res, _ := sandbox.Run(ctx, launch)
//	return res.Code, nil
//
// Good:
//
//	defer func() { err = errors.Join(err, run.Reap(ctx)) }()
//	res, err := sandbox.Run(ctx, launch)
//	if err != nil {
//		return 0, err
//	}
//	if err := res.Err(); err != nil {
//		return 0, err
//	}
//
// Not reported are errors that are returned, joined, wrapped, stored, sent, handed to a function that does more than log, or told apart by
// errors.Is and errors.As; a Result that is dropped where the error is told apart; an exit code that is compared with a constant other than 0, which
// nothing has that never ran, one in a test's message, and one in a function that calls another which looks at the flag, or sets it; and, of the
// package that declares the lifecycle, the calls it makes of its own steps outside its tests: there the steps are made of each other.
//
// # How to allow it
//
//	run.Reap(ctx) //sbx:allow lostfailure <reason>
//
// # What it cannot see
//
// What becomes of an error once it is stored, sent or handed over; an error that is logged in a function which has no error to return and goes on
// without using the result; a success told by a number or a boolean; a call through reflection, and one through a function value that another package keeps.
// Whether the running flag that a function reads is looked at before the exit code, and is that of the same value.
package lostfailure
