// Package mounts plans the file system of a sandbox: which operations, in which order, so that what is visible at each path inside
// is what the most specific request asked for.
//
// Plan is pure. It looks at the host only through a runtime.HostView, and each path at most once; OS is the view of the real host, and
// package mountstest has a model of one. What it decides:
//
//   - Order. Operations apply strictly one after the other, and a later ancestor hides an earlier descendant without a word. The planned
//     order is by depth of the place inside, and among equal depths as declared. So no operation stands above an earlier one, nothing is
//     shadowed, and what is visible at a path is the deepest operation at or above it. /proc and /dev come after a root bind for the
//     same reason.
//   - Links. A tool that follows a link at a bind's source or target binds something else than was asked for (CVE-2024-42472). Sources
//     are resolved on the host, targets in the tree that the plan makes. A bind whose source is a link (/bin on a merged-usr host)
//     becomes a link again where the plan shows the same content through it, and a bind of what the link leads to where it does not.
//   - The same place twice. Equal requests are one. A later read-only bind tightens an earlier writable one of the same source, and a later
//     mask hides what stands there. Everything else is Denied naming both requests: an earlier read-only bind is not widened, a mask is
//     not lifted.
//   - Optional. Only a read-only bind may be optional; it is dropped where its source is absent, and reported. What is left in the plan
//     is no longer optional: a source that vanishes after planning fails the start and is not skipped in silence.
//   - Masks. The kind is what stands at the place (by lstat). Where nothing stands, a mask under a writable bind is Denied, because a
//     skipped mask leaves a file that appears later readable; elsewhere there is nothing that the command could make appear: the mask
//     is dropped and reported. A mask of something that another bind still shows is Denied too.
//   - Places that cannot be made: below a file, absent under a read-only bind, a directory over a file. The tool would fail; the plan
//     says so before anything starts.
//   - Unix sockets. A read-only bind does not stop connect(2). A bind that shows a socket which Input.Sockets does not allow is Denied. See
//     findSockets for what is looked at.
//   - /etc/resolv.conf. Where it is a link whose end is not visible inside, the directory of that end is bound too, read-only, so that
//     replacing the file is seen; the file alone where that directory holds a socket (the resolver's own would be a way out).
//   - A git worktree whose common directory is not visible inside gets a note that says what to add.
//   - Budgets: words in all, bytes in a word, and descriptors, counted up from the first free number.
//
//sbx:seam its tests carry plans out on the real bubblewrap
package mounts
