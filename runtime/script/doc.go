// Package script is the primitives room of the fake backend: it plays a run that a test wrote down in Go, with no process, no engine
// and no file. An executor's tests of time-outs, stop ladders, refusals and crashes run against it in no real time: every wait is a
// channel, a timer or a condition of this process, so that a whole test can stand in a testing/synctest bubble.
//
// A test writes a [Script]; the fake plays it through the same nine steps as any backend and records what was asked of it (see
// [World.Runs]). What exists outside the controller, containers and processes, lives in a [World]: it outlasts the controller that made
// it, as an engine would, and several backends can share one.
//
//sbx:seam the primitives room of the fake
package script
