// Package stage moves trees of files between a host and a sandbox without trusting them: snapshots of a directory or of a git tree on
// the way in, archives for engines, and the extraction of what a run leaves on the way out.
//
// Everything is bounded (files, bytes, depth, and time by the context), written below one directory through os.Root, and whole or not
// there at all: a snapshot appears under its name only when it is complete, and an extraction that fails removes what it wrote.
//
// What is refused, in both directions: names that leave the tree, symbolic links that lead out of it (also through other links), entries
// below a link, devices, FIFOs and sockets. An archive's hard links must name a file of the same archive; its set-user-id and set-group-id
// programs are refused.
package stage
