// Package cgroup gives a run a control group of its own, where the host allows it: with one hierarchy (v2), with a hierarchy a
// controller (v1), or with both mounted (hybrid). Limits on memory, swap, processes and CPUs are the kernel's count over everything the run
// starts; nothing else stands in for them: a limit that no controller keeps is Unsupported.
//
// A group is made beside or below our own, under the run's name, and is found again by its paths alone.
package cgroup
