// Package attest measures what a plan claims of a process against the kernel's own record of it, from outside: /proc/<pid> (status,
// namespaces, mountinfo, environment, descriptors, program), resource limits, and the network devices of its namespace. It trusts
// nothing that the process or its launcher says.
//
// A [Subject] is one process at one moment, held or stopped by the caller; what it reads of it is read once. [Subject.Measure] compares one
// claim. Claims are named as the vocabulary names features.
package attest
