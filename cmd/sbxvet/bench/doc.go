// Package bench holds a benchmark of sbxvet beside go vet on modules that are not ours:
//
//	make bench                             x/tools, five turns of each side
//	make bench BENCH=moby/cold BENCHTIME=1x
//
// The modules come from the module cache, and what they require from there or from the module proxy; one that is not to be had is skipped
// with the reason. Nothing else may run on the machine, or only the processor time and the memory mean something.
//
// On x/tools (216 packages), 2 cores, two turns on a busy machine, sbxvet took of what go vet takes: cold 0.85 and 0.87 of the wall time, 0.81
// and 0.83 of the processor time, 0.88 of the largest process; warm 0.92 and 1.02 of the wall time. On an idle one, cold: 0.69 of the wall time
// and of the processor time, 0.94 of the largest process, 1.23 of the sum of all.
package bench
