// Package journal keeps one record per run in a state directory, where it survives the controller: what a run made can be found and
// removed after a crash at any instant.
//
// The layout, in a directory that belongs to one user and that nobody else can write to (0700, files 0600):
//
//	owner              the state directory's own random identity, written once
//	owner.lock         held while the identity is made
//	runs/ID/           a run's own directory, from before anything of the run exists until everything of it is gone
//	runs/ID/lock       held (flock(2)) by the run's controller, or by the one that reconciles it, and by nobody else
//	runs/ID/record.json  the run's record, replaced atomically (rename(2)), so that a reader finds the old one or the new one
//	runs/ID/.record.json.spare  the file it takes turns with (Linux); after a power failure the record is the newer of the two that is whole
//
// The lock, not a pid, says whether a run's controller lives: the kernel gives it back when the process ends, however that ends, and a
// process of another boot or pid namespace cannot be mistaken for it. Several controllers may use one state directory at once.
//
// A record that cannot be read, is not whole, or is of a newer version is reported, stays where it is, and nothing is derived from it.
// No record holds the value of a variable or credential: runtime.Record has no place for one.
//
// Records are written without a sync until the caller asks for one: what ends with the machine needs no record that outlives it.
package journal
