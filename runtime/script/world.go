package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// World is what exists outside the controller: the fake's engine. It outlasts every backend that uses it, so that a test can let a
// controller crash and reconcile with the next one. It is safe for concurrent use.
//
// Commands run on goroutines of the world; each ends with its command. Close ends all that is left.
type World struct {
	mu         sync.Mutex
	boot       int
	pids       int
	containers map[string]*container // by name
	volumes    map[string]*Resource
	images     map[string]*runtime.ImageFacts
	down       error
	calls      []Call
	runs       []*Invocation
	played     map[string]played // by container name

	life    context.Context // ends with Close
	end     context.CancelCauseFunc
	running sync.WaitGroup
}

var errWorldClosed = errors.New("the scripted world was closed")

// NewWorld makes an empty world. In a synctest bubble it is made inside: a wait on a channel from outside would stop the bubble's clock.
func NewWorld() *World {
	life, end := context.WithCancelCause(context.Background())
	return &World{boot: 1, containers: map[string]*container{}, volumes: map[string]*Resource{}, played: map[string]played{}, life: life, end: end}
}

// State is where a container is in its life.
type State string

// The states of a container.
const (
	Created State = "created"
	Running State = "running"
	Exited  State = "exited"
)

// Resource is something that exists in the world.
type Resource struct {
	Kind  string // "container" or "volume"
	Name  string
	Owner string
	Run   string // the run's id
	// Backend is the name of the backend that made it.
	Backend string
	State   State // of a container
	Labels  []runtime.Label
	// Unreadable is a resource that does not say whose it is; it is nobody's to remove.
	Unreadable bool
}

// container is a Resource with what runs in it. Its fields are guarded by the world's mutex, but for cmd's own.
type container struct {
	Resource
	token runtime.Token
	cmd   *command // nil before Start
}

// played is what a run plays and what is recorded of it.
type played struct {
	player *player
	record *Invocation
}

// Resources lists what exists, containers first, by name.
func (w *World) Resources() []Resource {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []Resource
	for _, c := range w.containers {
		list = append(list, c.Resource)
	}
	for _, v := range w.volumes {
		list = append(list, *v)
	}
	slices.SortFunc(list, func(a, b Resource) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Plant puts a resource into the world that no backend here made: another controller's, or a leftover of an earlier one.
func (w *World) Plant(r Resource) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch r.Kind {
	case "container":
		if w.containers[r.Name] != nil {
			return fmt.Errorf("planting container %q: the name is taken", r.Name)
		}
		if r.State == "" {
			r.State = Created
		}
		w.containers[r.Name] = &container{
			Resource: r, token: runtime.Token{Backend: r.Backend, Name: r.Name, Run: runtime.RunName{ID: r.Run, Owner: r.Owner}},
		}
	case "volume":
		if w.volumes[r.Name] != nil {
			return fmt.Errorf("planting volume %q: the name is taken", r.Name)
		}
		w.volumes[r.Name] = &r
	default:
		return fmt.Errorf("planting %q: kind %q is neither container nor volume", r.Name, r.Kind)
	}
	return nil
}

// BootID is the identity of the host's boot.
func (w *World) BootID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bootID()
}

func (w *World) bootID() string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", w.boot) }

// Reboot ends every command, unwitnessed; containers and volumes stay, and the boot identity is another.
func (w *World) Reboot() {
	w.mu.Lock()
	w.boot++
	var cmds []*command
	for _, c := range w.containers {
		if c.cmd != nil {
			cmds = append(cmds, c.cmd)
		}
	}
	w.mu.Unlock()
	for _, c := range cmds {
		c.finish(ending{unseen: true})
	}
}

// SetDown makes the world unreachable: every call fails with cause until SetDown(nil). Commands run on.
func (w *World) SetDown(cause error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = cause
}

func (w *World) reachable(op Op) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down == nil || op == OnPlan || op == OnReopen {
		return nil
	}
	return &runtime.Failure{Kind: op.interrupted(true), Step: op.step(), Message: "the scripted world does not answer", Err: w.down}
}

// AddImage puts an image into the world. A world without any has every image that is asked for; one with some has no others.
func (w *World) AddImage(f runtime.ImageFacts) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.images == nil {
		w.images = map[string]*runtime.ImageFacts{}
	}
	w.images[f.Ref] = &f
}

// Close ends every command and every call that waits, and returns when no goroutine of the world is left. Idempotent.
func (w *World) Close() error {
	w.end(errWorldClosed)
	w.mu.Lock()
	list := slices.Collect(maps.Values(w.containers))
	w.mu.Unlock()
	for _, c := range list {
		if cmd := w.command(c); cmd != nil {
			cmd.finish(ending{unseen: true})
			cmd.kill()
		}
	}
	w.running.Wait()
	return nil
}

func (w *World) command(c *container) *command {
	w.mu.Lock()
	defer w.mu.Unlock()
	return c.cmd
}

func (w *World) find(name string) *container {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.containers[name]
}

func (w *World) log(c Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c.At = time.Now()
	w.calls = append(w.calls, c)
}

// kill ends what runs in the container of that name, and returns when it has ended.
func (w *World) kill(ctx context.Context, name string) error {
	c := w.find(name)
	if c == nil {
		return nil
	}
	cmd := w.command(c)
	if cmd == nil {
		return nil
	}
	cmd.kill()
	select {
	case <-cmd.stopped:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the command of %s to end: %w", name, context.Cause(ctx))
	}
}
