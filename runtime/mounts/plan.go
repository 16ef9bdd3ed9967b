package mounts

import (
	"slices"

	"github.com/sbxkit/sbxkit/runtime"
)

// Input is everything a plan depends on.
type Input struct {
	// Mounts are the requests in the order they were declared: the policy's, then the workspace, then the launch's. Origin names the one
	// who asked, in errors and in the plan; an empty one becomes "mounts[i]".
	Mounts []runtime.Mount
	// Host is looked at for sources and for what stands at targets. Nil where the sources are on another host (a remote engine's):
	// then nothing is resolved, a mask needs its kind said, and an optional mount is refused.
	Host runtime.HostView
	// Tool says what the backend's tool can take.
	Tool Tool
	// Sockets are the host's unix sockets that a mount may show.
	Sockets []Socket
}

// Tool says what a backend's tool can take.
type Tool struct {
	// Name of the tool, for messages.
	Name string
	// Image is true where what no mount covers is an image's own and not known to the planner; false where it is empty.
	Image bool
	// NoParents is true where the tool does not make the missing parents of a target: the plan then has a MountDir for each.
	NoParents bool

	// Words is the most words the tool takes in all; 0 is no bound. UsedWords are those that are not a mount's.
	Words, UsedWords int
	// WordsOf says how many words an operation takes; nil: 3 each (flag, source, target).
	WordsOf func(*runtime.Mount) int
	// WordBytes bounds one word, in bytes without its ending NUL; 0 is DefaultWordBytes.
	WordBytes int

	// FirstDescriptor is the first number for data that is read from a descriptor; 0 where the tool takes data otherwise. Descriptors
	// are numbered from it without gaps, in the planned order, and never reach DescriptorLimit where that is not 0.
	FirstDescriptor, DescriptorLimit int
}

// DefaultWordBytes is what the kernel takes as one word of an argv: MAX_ARG_STRLEN is 32 pages of 4 KiB with the ending NUL (execve(2)).
const DefaultWordBytes = 128<<10 - 1

// Socket is a unix socket of the host that a policy lets mounts show.
type Socket struct {
	// Path is the socket, or a directory of which every socket is meant.
	Path string
	// Because is the policy's reason; it is carried into the notes.
	Because string
}

// Result is a planned file system.
type Result struct {
	// Mounts are the operations in the order they must be applied: sources and targets without links, kinds of masks decided, Origin set,
	// descriptors assigned, nothing optional.
	Mounts []runtime.Mount
	// Dropped are the requests the plan does without, with the reason.
	Dropped []runtime.Dropped
	// Notes are sentences for a person: what the plan leaves on the host, what will not work inside and what to add.
	Notes []string
	// Words is how many words the operations take.
	Words int
	// NextDescriptor is the first number that is still free.
	NextDescriptor int

	planner *planner
}

// Plan orders, resolves and checks the requests. It changes nothing of its input. Every error is a *runtime.Failure of step Plan: Denied
// (two requests exclude each other, or one that is never granted), Unsupported (the tool or an unseen host cannot), Setup (the
// host is not as the request needs it; wraps the host's own error, fs.ErrNotExist for an absent source).
func Plan(in Input) (*Result, error) {
	p := &planner{in: in, host: newHost(in.Host), tree: make(map[string]*request, len(in.Mounts))}
	for _, step := range []func() error{
		p.read,
		p.findSources,
		p.settle,
		p.relink,
		p.nameServers,
		p.stand,
		p.verify,
		p.checkMasks,
		p.findSockets,
		p.noteWorktrees,
	} {
		if err := step(); err != nil {
			return nil, asPlanFailure(err)
		}
	}
	res, err := p.emit()
	if err != nil {
		return nil, asPlanFailure(err)
	}
	return res, nil
}

func asPlanFailure(err error) error {
	return runtime.AsFailure(err, runtime.Setup).At(runtime.StepPlan)
}

// planner is the work on one plan.
type planner struct {
	in   Input
	host *host
	// requests are in declared order; those given up have gone set.
	requests []*request
	// tree has the request at each place.
	tree map[string]*request
	// binds are the requests at each source, once asked for.
	binds   map[string][]*request
	dropped []runtime.Dropped
	notes   []string
}

// live calls f for each request that is still part of the plan.
func (p *planner) live(f func(*request) error) error {
	for _, r := range p.requests {
		if r.gone {
			continue
		}
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

// ordered gives the requests that are still part of the plan in the order they are applied.
func (p *planner) ordered() []*request {
	list := make([]*request, 0, len(p.requests))
	for _, r := range p.requests {
		if !r.gone {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b *request) int { return a.depth - b.depth })
	return list
}

// giveUp takes r out of the plan.
func (p *planner) giveUp(r *request) {
	r.gone = true
	if p.tree[r.place] == r {
		delete(p.tree, r.place)
	}
}

// drop takes r out of the plan and reports it.
func (p *planner) drop(r *request, why string) {
	p.giveUp(r)
	p.dropped = append(p.dropped, runtime.Dropped{What: r.String(), Why: why})
}
