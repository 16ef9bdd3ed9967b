package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// TaskLimits bound a background task; zero is the default.
type TaskLimits struct {
	// Watchdog ends a task that runs longer, Quiet one that writes nothing for so long.
	Watchdog, Quiet time.Duration
	// Log ends a task that writes more bytes than this.
	Log int
}

// The defaults of TaskLimits.
const (
	watchdogTime = time.Hour
	quietTime    = 10 * time.Minute
	logBytes     = 1 << 20
	// keptTasks bounds the registry: the oldest ended tasks are forgotten beyond it.
	keptTasks = 64
)

// Task is what is known of a background task.
type Task struct {
	ID      string `json:"task"`
	Command string `json:"command"`
	// Running is true until its end was witnessed and everything of it is removed; then Ended or Error says how.
	Running bool      `json:"running"`
	Started time.Time `json:"started"`
	Log     string    `json:"log,omitempty"`
	Ended   *Answer   `json:"ended,omitempty"`
	Error   *Envelope `json:"error,omitempty"`
}

// task ends by its own Run, wherever that came from.
type task struct {
	number  int
	command string
	started time.Time
	run     *sbx.Run
	log     *sbx.Tail
}

// Tasks is the registry of background tasks. It is safe for concurrent use.
type Tasks struct {
	seam  Seam
	mu    sync.Mutex
	tasks map[string]*task
	next  int
}

// NewTasks makes an empty registry.
func NewTasks(s Seam) *Tasks { return &Tasks{seam: s, tasks: map[string]*task{}} }

// Start starts text with the shell and gives the task's name. ctx bounds the start alone: the task goes on when it ends.
func (t *Tasks) Start(ctx context.Context, text string, l TaskLimits) (string, error) {
	log := sbx.NewTail(cmp.Or(l.Log, logBytes)/2, cmp.Or(l.Log, logBytes)/2)
	r, err := t.seam.launch(ctx, sbx.Launch{
		Script: shellScript(text), Stdout: log, Stderr: log, // one sink twice keeps the order of writes
		Timeouts: sbx.Timeouts{Wall: within(l.Watchdog, watchdogTime), Idle: within(l.Quiet, quietTime)},
		Limits:   sbx.Limits{Output: sbx.AtMost(uint64(cmp.Or(l.Log, logBytes)))},
	})
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	id := "task-" + strconv.Itoa(t.next)
	t.tasks[id] = &task{number: t.next, command: text, started: time.Now(), run: r, log: log}
	t.forget()
	return id, nil
}

// forget drops the oldest ended tasks beyond keptTasks; what runs is never forgotten.
func (t *Tasks) forget() {
	for _, id := range t.ids() {
		if len(t.tasks) <= keptTasks {
			return
		}
		select {
		case <-t.tasks[id].run.Done():
			delete(t.tasks, id)
		default:
		}
	}
}

func (t *Tasks) ids() []string {
	ids := make([]string, 0, len(t.tasks))
	for id := range t.tasks {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { return t.tasks[a].number - t.tasks[b].number })
	return ids
}

// List gives all tasks, the oldest first, without their logs.
func (t *Tasks) List() []Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]Task, 0, len(t.tasks)) // an empty list, not null, in JSON
	for _, id := range t.ids() {
		v := t.tasks[id].view(id)
		v.Log = ""
		all = append(all, v)
	}
	return all
}

func (t *Tasks) find(id string) (*task, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if k := t.tasks[id]; k != nil {
		return k, nil
	}
	return nil, &BadRequest{Message: fmt.Sprintf("there is no task %q", id), Cure: "list the tasks with the tool task_list"}
}

// Log gives a task with the head and the tail of what it wrote so far.
func (t *Tasks) Log(id string) (Task, error) {
	k, err := t.find(id)
	if err != nil {
		return Task{}, err
	}
	return k.view(id), nil
}

// Kill ends a task and waits until it is gone. A task that has ended already is no error.
func (t *Tasks) Kill(ctx context.Context, id string) (Task, error) {
	k, err := t.find(id)
	if err != nil {
		return Task{}, err
	}
	if err := k.run.Kill(ctx); err != nil {
		return Task{}, err
	}
	return k.view(id), nil
}

// Close ends all tasks and waits until they are gone.
func (t *Tasks) Close(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	ended := make(chan error, len(t.tasks))
	for _, k := range t.tasks {
		go func() { ended <- k.run.Kill(ctx) }()
	}
	var all []error
	for range t.tasks {
		all = append(all, <-ended)
	}
	return errors.Join(all...)
}

func (k *task) view(id string) Task {
	v := Task{ID: id, Command: k.command, Started: k.started, Log: k.log.String()}
	select {
	case <-k.run.Done():
	default:
		v.Running = true
		return v
	}
	res, err := k.run.Wait(context.Background()) // it has ended: this does not wait
	if err != nil {
		v.Error = EnvelopeOf(err)
		return v
	}
	v.Ended = answer(res, k.log, k.log)
	v.Log, v.Ended.Stdout = v.Ended.Stdout, ""
	return v
}
