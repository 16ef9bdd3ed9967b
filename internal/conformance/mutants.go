package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/sbxtest"
)

// mutant is a backend that is wrong in one way: the fake behind hooks. caught names the check that has to fail for it.
type mutant struct {
	name   string
	caught string
	hooks  func() sbxtest.Hooks
	// change, where there is one, changes the description instead of the calls, or beside them.
	change func(*runtime.Description)
}

type (
	startNext   = func(context.Context, *runtime.StartRequest) (runtime.Process, error)
	prepareNext = func(context.Context, *runtime.Plan) (runtime.Resources, error)
	removeNext  = func(context.Context) (*runtime.Teardown, error)
	waitNext    = func(context.Context, time.Duration) (*runtime.Exit, error)
	planNext    = func(runtime.PlanInput) (*runtime.Plan, error)
)

// planned makes hooks that change what is planned: the request before it, or the plan after it.
func planned(before func(*runtime.Request), after func(*runtime.Plan)) func() sbxtest.Hooks {
	return func() sbxtest.Hooks {
		return sbxtest.Hooks{Plan: func(in runtime.PlanInput, next planNext) (*runtime.Plan, error) {
			if before != nil {
				r := *in.Request
				before(&r)
				in.Request = &r
			}
			p, err := next(in)
			if err == nil && after != nil {
				after(p)
			}
			return p, err
		}}
	}
}

// started makes hooks that change what a start is asked for.
func started(change func(*runtime.StartRequest)) func() sbxtest.Hooks {
	return func() sbxtest.Hooks {
		return sbxtest.Hooks{Start: func(ctx context.Context, r *runtime.StartRequest, next startNext) (runtime.Process, error) {
			q := *r
			change(&q)
			return next(ctx, &q)
		}}
	}
}

// waited makes hooks that change what a wait answers.
func waited(change func(*runtime.Exit, error) (*runtime.Exit, error)) func() sbxtest.Hooks {
	return func() sbxtest.Hooks {
		return sbxtest.Hooks{Wait: func(ctx context.Context, d time.Duration, next waitNext) (*runtime.Exit, error) {
			x, err := next(ctx, d)
			if x != nil {
				c := *x
				x = &c
			}
			return change(x, err)
		}}
	}
}

// measured makes hooks that change what a start measured.
func measured(change func([]runtime.Guarantee) []runtime.Guarantee) func() sbxtest.Hooks {
	return func() sbxtest.Hooks {
		return sbxtest.Hooks{Guarantees: func(next func() []runtime.Guarantee) []runtime.Guarantee { return change(slices.Clone(next())) }}
	}
}

// exported makes hooks that change an export.
func exported(change func(dir string, m *runtime.Manifest) error) func() sbxtest.Hooks {
	return func() sbxtest.Hooks {
		return sbxtest.Hooks{Export: func(ctx context.Context, dir string, a *runtime.Artifacts, next func(context.Context, string, *runtime.Artifacts) (*runtime.Manifest, error)) (*runtime.Manifest, error) {
			m, err := next(ctx, dir, a)
			if err != nil {
				return m, err
			}
			return m, change(dir, m)
		}}
	}
}

// without takes the variables out that match.
func without(list []runtime.Variable, drop func(runtime.Variable) bool) []runtime.Variable {
	return slices.DeleteFunc(slices.Clone(list), drop)
}

// outputs changes both of a start's outputs.
func outputs(r *runtime.StartRequest, change func(io.Writer) io.Writer) {
	for _, o := range []*runtime.Output{&r.Stdout, &r.Stderr} {
		if o.Writer != nil {
			o.Writer = change(o.Writer)
		}
	}
}

// sinkFunc is a writer made of a function; it says that it took everything, as a backend's writer does.
type sinkFunc func([]byte)

func (f sinkFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

// stdinFunc is a stdin whose close is a function.
type stdinFunc struct {
	io.WriteCloser
	closing func() error
	writing func([]byte) (int, error)
}

func (s stdinFunc) Close() error {
	if s.closing != nil {
		return s.closing()
	}
	return s.WriteCloser.Close()
}

func (s stdinFunc) Write(p []byte) (int, error) {
	if s.writing != nil {
		return s.writing(p)
	}
	return s.WriteCloser.Write(p)
}

func stdin(make func(io.WriteCloser) stdinFunc) func() sbxtest.Hooks {
	return func() sbxtest.Hooks {
		return sbxtest.Hooks{Stdin: func(next func() io.WriteCloser) io.WriteCloser {
			if w := next(); w != nil {
				return make(w)
			}
			return nil
		}}
	}
}

// mutants lists the backends that are wrong, by group of checks.
func mutants() []mutant {
	var all []mutant
	for _, list := range [][]mutant{mutantPlans(), mutantStreams(), mutantPlaces(), mutantEnds(), mutantRemovals(), mutantOwners(), mutantSecrets()} {
		all = append(all, list...)
	}
	return all
}

func mutantPlans() []mutant {
	var n atomic.Int64
	return []mutant{
		{"plans differently each time", "the same launch gives the same plan", planned(nil, func(p *runtime.Plan) {
			p.Dropped = append(p.Dropped, runtime.Dropped{What: fmt.Sprint(n.Add(1)), Why: "chance"})
		}), nil},
		{"runs other words than it shows", "the words shown are the words run", planned(nil, func(p *runtime.Plan) {
			p.Words = slices.Clone(p.Words)
			p.Words[0].Text = "other"
		}), nil},
		{"forgets where a word comes from", "every word says where it comes from", planned(nil, func(p *runtime.Plan) {
			p.Words = slices.Clone(p.Words)
			p.Words[len(p.Words)-1].Spec = ""
		}), nil},
		{"claims no hardening", "every required hardening is a claim", planned(nil, func(p *runtime.Plan) { p.Claims = p.Claims[:1] }), nil},
		{"plans a token of another run", "a plan holds the token that finds its run", planned(nil, func(p *runtime.Plan) { p.Token.Run.ID = "another" }), nil},
		{"says nothing of a feature", "a description is complete", nil, func(d *runtime.Description) {
			d.Features = slices.DeleteFunc(slices.Clone(d.Features), func(f runtime.Feature) bool { return f.Name == "limits.memory" })
		}},
		{"says it is another backend", "a probe says who the backend is", probed(func(id *runtime.Identity) { id.Backend = "other" }), nil},
		{"says another version each time", "ten probes say the same", probed(func(id *runtime.Identity) { id.Engine, id.Version = "fake", fmt.Sprint(n.Add(1)) }), nil},
		{"lets everything into the environment", "a variable of the dynamic linker is refused", nil, func(d *runtime.Description) {
			d.Policy.Environment.Accept, d.Policy.Environment.Deny = []string{"*"}, nil
		}},
		{"lets a launch raise a limit", "a limit above the policy's is refused", nil, func(d *runtime.Description) { d.Policy.Limits = nil }},
		{"says that it is not there", "preferred uses the sandbox where there is one", func() sbxtest.Hooks {
			return sbxtest.Hooks{Probe: func(ctx context.Context, r runtime.ProbeRequest, next func(context.Context, runtime.ProbeRequest) (*runtime.Identity, error)) (*runtime.Identity, error) {
				if r.Lookup == nil { // the suite's own probe, without which it runs no check
					return next(ctx, r)
				}
				return nil, runtime.Fail(runtime.Unsupported, "not here").At(runtime.StepProbe)
			}}
		}, nil},
		{"says that nothing is sandboxed", "a probe says truthfully whether anything is sandboxed", probed(func(id *runtime.Identity) { id.Unsandboxed = true }), nil},
	}
}

// probed makes hooks that change what a probe says.
func probed(change func(*runtime.Identity)) func() sbxtest.Hooks {
	return func() sbxtest.Hooks {
		return sbxtest.Hooks{Probe: func(ctx context.Context, r runtime.ProbeRequest, next func(context.Context, runtime.ProbeRequest) (*runtime.Identity, error)) (*runtime.Identity, error) {
			id, err := next(ctx, r)
			if err != nil {
				return nil, err
			}
			c := *id
			change(&c)
			return &c, nil
		}}
	}
}

func mutantStreams() []mutant {
	return []mutant{
		{"forgets to half-close", "after the half-close the output goes on", stdin(func(w io.WriteCloser) stdinFunc {
			return stdinFunc{WriteCloser: w, closing: func() error { return nil }}
		}), nil},
		{"loses the last bytes", "the last bytes before the end are not lost", started(func(r *runtime.StartRequest) {
			outputs(r, func(w io.Writer) io.Writer {
				return sinkFunc(func(p []byte) { _, _ = w.Write(p[:max(0, len(p)-1)]) })
			})
		}), nil},
		{"mixes stderr into stdout", "stderr is a stream of its own", started(func(r *runtime.StartRequest) { r.Stderr = r.Stdout }), nil},
		{"drops what does not fit a buffer", "a megabyte arrives whole and is counted", started(func(r *runtime.StartRequest) {
			outputs(r, func(w io.Writer) io.Writer {
				return sinkFunc(func(p []byte) { _, _ = w.Write(p[:min(len(p), 4096)]) })
			})
		}), nil},
		{"translates line ends", "bytes pass through stdin and stdout exactly", started(func(r *runtime.StartRequest) {
			outputs(r, func(w io.Writer) io.Writer {
				return sinkFunc(func(p []byte) { _, _ = w.Write([]byte(strings.ReplaceAll(string(p), "\n", "\r\n"))) })
			})
		}), nil},
		{"keeps output back until the end", "output is seen while the run goes on", func() sbxtest.Hooks {
			var mu sync.Mutex
			var held []func()
			return sbxtest.Hooks{
				Start: func(ctx context.Context, r *runtime.StartRequest, next startNext) (runtime.Process, error) {
					q := *r
					outputs(&q, func(w io.Writer) io.Writer {
						return sinkFunc(func(p []byte) {
							c := slices.Clone(p)
							mu.Lock()
							defer mu.Unlock()
							held = append(held, func() { _, _ = w.Write(c) })
						})
					})
					return next(ctx, &q)
				},
				Wait: func(ctx context.Context, d time.Duration, next waitNext) (*runtime.Exit, error) {
					x, err := next(ctx, d)
					mu.Lock()
					defer mu.Unlock()
					for _, f := range held {
						f()
					}
					held = nil
					return x, err
				},
			}
		}, nil},
		{"waits for a grandchild's streams", "a grandchild that holds the streams cannot hang the run", func() sbxtest.Hooks {
			return sbxtest.Hooks{Wait: func(ctx context.Context, _ time.Duration, next waitNext) (*runtime.Exit, error) {
				return next(ctx, time.Hour)
			}}
		}, nil},
		{"gives no stdin", "a reader's bytes reach the command, and its end does", started(func(r *runtime.StartRequest) { r.Stdin = runtime.StdinNone }), nil},
		{"loses a part of stdin", "a duplex session answers line by line", stdin(func(w io.WriteCloser) stdinFunc {
			return stdinFunc{WriteCloser: w, writing: func(p []byte) (int, error) {
				_, err := w.Write(p[1:])
				return len(p), err
			}}
		}), nil},
		{"takes bytes for a command that has ended", "writing to a command that has ended is an error, and no signal", stdin(func(w io.WriteCloser) stdinFunc {
			return stdinFunc{WriteCloser: w, writing: func(p []byte) (int, error) {
				_, _ = w.Write(p)
				return len(p), nil
			}}
		}), nil},
	}
}

func mutantPlaces() []mutant {
	return []mutant{
		{"ignores a denied name", "a denied name is not there, whoever sets it", planned(func(r *runtime.Request) {
			r.Env = append(slices.Clone(r.Env), runtime.Variable{Name: "CI", Value: "1"})
		}, nil), nil},
		{"passes the host's environment on", "a name that is not forwarded stays outside", planned(func(r *runtime.Request) {
			r.Env = append(slices.Clone(r.Env), runtime.Variable{Name: "AWS_SECRET_ACCESS_KEY", Value: "y"})
		}, nil), nil},
		{"drops what the policy sets", "what the policy sets is there", planned(func(r *runtime.Request) {
			r.Env = without(r.Env, func(v runtime.Variable) bool { return v.Origin == "policy" })
		}, nil), nil},
		{"drops an empty value", "an empty value is there and empty", planned(func(r *runtime.Request) {
			r.Env = without(r.Env, func(v runtime.Variable) bool { return v.Value == "" })
		}, nil), nil},
		{"puts a credential by file into the environment", "a credential by file reaches the command, and its environment does not have it", planned(func(r *runtime.Request) {
			for _, g := range r.Credentials {
				r.Env = append(slices.Clone(r.Env), runtime.Variable{Name: "CREDENTIAL", Value: string(g.Value)})
			}
		}, nil), nil},
		{"ignores the working directory", "the working directory is the one asked for", planned(func(r *runtime.Request) { r.Dir = "/" }, nil), nil},
		{"binds read-only as writable", "a read-only bind can be read and not written", planned(nil, func(p *runtime.Plan) {
			p.Request.Mounts = slices.Clone(p.Request.Mounts)
			for i := range p.Request.Mounts {
				if p.Request.Mounts[i].Kind == runtime.MountBindRO {
					p.Request.Mounts[i].Kind = runtime.MountBindRW
				}
			}
		}), nil},
		{"mounts in the order it was asked", "a mount inside another stands, in whichever order they are given", planned(nil, func(p *runtime.Plan) {
			p.Request.Mounts = slices.Clone(p.Request.Mounts)
			slices.SortStableFunc(p.Request.Mounts, func(a, b runtime.Mount) int { return strings.Compare(a.Origin, b.Origin) })
		}), nil},
		{"forgets masks", "a masked file is empty", planned(nil, func(p *runtime.Plan) {
			p.Request.Mounts = slices.DeleteFunc(slices.Clone(p.Request.Mounts), func(m runtime.Mount) bool { return m.Kind == runtime.MountMaskFile })
		}), nil},
		{"grants the whole host", "a file of the host that nobody granted is not there", planned(nil, func(p *runtime.Plan) {
			p.Request.Mounts = append([]runtime.Mount{{Kind: runtime.MountBindRO, Source: "/", Target: "/"}},
				slices.DeleteFunc(slices.Clone(p.Request.Mounts), func(m runtime.Mount) bool { return m.Target == "/tmp" })...)
		}), nil},
		{"ignores the host name", "the host name is the one asked for", planned(func(r *runtime.Request) { r.Hostname = "host" }, nil), nil},
		{"ignores the user", "the user is the one asked for", planned(func(r *runtime.Request) { r.User = runtime.User{} }, nil), nil},
		{"leaves the host's network", "without a network there is no interface but the loopback", planned(func(r *runtime.Request) { r.Network.Mode = runtime.NetworkHost }, nil), nil},
		{"forgets a limit", "the kernel holds the command to limits.open-files", planned(func(r *runtime.Request) { r.Limits.OpenFiles = nil }, nil), nil},
		{"sets a soft limit to the hard one", "the kernel holds the command to limits.stack", planned(func(r *runtime.Request) {
			if s := r.Limits.Stack; s != nil {
				r.Limits.Stack = runtime.AtMost(s.Hard)
			}
		}, nil), nil},
		{"ignores the memory limit's kill", "a command that needs more memory than the limit ends as that", waited(func(x *runtime.Exit, err error) (*runtime.Exit, error) {
			if x != nil {
				x.OOM = false
			}
			return x, err
		}), nil},
		{"says that everything holds", "what isolates nothing claims nothing to hold by evidence", measured(func(g []runtime.Guarantee) []runtime.Guarantee {
			for i := range g {
				g[i].Measured = runtime.MeasuredHolds
			}
			return g
		}), nil},
		{"answers no claim", "every claim of the plan is answered by a guarantee", measured(func([]runtime.Guarantee) []runtime.Guarantee { return nil }), nil},
		{"goes on with a broken guarantee", "no required guarantee is broken in a run that went on", measured(func(g []runtime.Guarantee) []runtime.Guarantee {
			g[0].Measured, g[0].Required = runtime.MeasuredBroken, true
			return g
		}), nil},
		{"measures without evidence", "a measurement says what was read and when", measured(func(g []runtime.Guarantee) []runtime.Guarantee {
			g[0].Evidence = ""
			return g
		}), nil},
		{"names a process by its pid alone", "the process is named so that it cannot be taken for another", func() sbxtest.Hooks {
			return sbxtest.Hooks{Identity: func(next func() runtime.ProcessIdentity) runtime.ProcessIdentity {
				return runtime.ProcessIdentity{PID: next().PID}
			}}
		}, nil},
		{"keeps new privileges", "new privileges are off inside", planned(func(r *runtime.Request) { r.Hardening.NoNewPrivileges = false }, nil), nil},
	}
}

func mutantEnds() []mutant {
	return []mutant{
		{"maps a vanished run to success", "a run that vanishes is uncertain, and no success", waited(func(x *runtime.Exit, err error) (*runtime.Exit, error) {
			return &runtime.Exit{Ran: true, Code: 0, Observer: "hope"}, nil
		}), nil},
		{"reports a death by signal as 0", "a death by a signal is no success, and says the signal", waited(func(x *runtime.Exit, err error) (*runtime.Exit, error) {
			if x != nil && x.Signal != 0 {
				x.Signal, x.Code = 0, 0
			}
			return x, err
		}), nil},
		{"loses the exit status", "exit status 7 is exit status 7", waited(func(x *runtime.Exit, err error) (*runtime.Exit, error) {
			if x != nil {
				x.Code = 0
			}
			return x, err
		}), nil},
		{"takes 126 for its own", "exit status 126 is exit status 126", waited(func(x *runtime.Exit, err error) (*runtime.Exit, error) {
			if x != nil && x.Code == 126 {
				return nil, runtime.Fail(runtime.Setup, "the launcher failed")
			}
			return x, err
		}), nil},
		{"reports an exit without a witness", "an end has its observer", waited(func(x *runtime.Exit, err error) (*runtime.Exit, error) {
			if x != nil {
				x.Observer = ""
			}
			return x, err
		}), nil},
		{"takes 127 for a missing program", "a command that says that it was not found ran", waited(func(x *runtime.Exit, err error) (*runtime.Exit, error) {
			if x != nil && x.Code == 127 {
				x.Ran = false
			}
			return x, err
		}), nil},
		{"says that a missing program ran", "a program that is not there never ran", func() sbxtest.Hooks {
			return sbxtest.Hooks{Start: func(ctx context.Context, r *runtime.StartRequest, next startNext) (runtime.Process, error) {
				p, err := next(ctx, r)
				if errors.Is(err, runtime.ErrCommand) {
					return nil, runtime.Fail(runtime.Setup, "exit status 1")
				}
				return p, err
			}}
		}, nil},
		{"ignores signals", "a signal reaches the command", func() sbxtest.Hooks {
			return sbxtest.Hooks{Signal: func(context.Context, syscall.Signal, func(context.Context, syscall.Signal) error) error { return nil }}
		}, nil},
		{"kills where it is to signal", "a command that stops on TERM needs no other rung", func() sbxtest.Hooks {
			return sbxtest.Hooks{Signal: func(ctx context.Context, _ syscall.Signal, next func(context.Context, syscall.Signal) error) error {
				return next(ctx, syscall.SIGKILL)
			}}
		}, nil},
		{"is silent about an ended command", "a signal to a command that has ended says so", func() sbxtest.Hooks {
			return sbxtest.Hooks{Signal: func(ctx context.Context, s syscall.Signal, next func(context.Context, syscall.Signal) error) error {
				if err := next(ctx, s); err != nil && !errors.Is(err, os.ErrProcessDone) {
					return err
				}
				return nil
			}}
		}, nil},
		{"ignores a cancelled start", "removing a run that is whose start failed ten times", func() sbxtest.Hooks {
			return sbxtest.Hooks{Start: func(ctx context.Context, r *runtime.StartRequest, next startNext) (runtime.Process, error) {
				return next(context.WithoutCancel(ctx), r)
			}}
		}, nil},
		{"never ends a kill", "a command that ignores TERM is killed after its grace", func() sbxtest.Hooks {
			return sbxtest.Hooks{Kill: func(context.Context, func(context.Context) error) error { return nil }}
		}, nil},
		{"forgets to say that it starts", "a start is told once, right before the command", started(func(r *runtime.StartRequest) { r.Started = func() {} }), nil},
		{"says twice that it starts", "a start is told once, right before the command", started(func(r *runtime.StartRequest) {
			told := r.Started
			r.Started = func() { told(); told() }
		}), nil},
		{"tells no time", "a run has its time", waited(func(x *runtime.Exit, err error) (*runtime.Exit, error) {
			if x != nil {
				x.Usage.Wall = time.Nanosecond
			}
			return x, err
		}), nil},
	}
}

func mutantRemovals() []mutant {
	return []mutant{
		{"leaks its resources", "a launch comes by every step, in order", func() sbxtest.Hooks {
			return sbxtest.Hooks{Remove: func(context.Context, removeNext) (*runtime.Teardown, error) {
				return &runtime.Teardown{How: "removed", Confirmed: true, Evidence: "hope"}, nil
			}}
		}, nil},
		{"says nothing of a removal", "a removal says how it was confirmed", func() sbxtest.Hooks {
			return sbxtest.Hooks{Remove: func(ctx context.Context, next removeNext) (*runtime.Teardown, error) {
				_, err := next(ctx)
				return &runtime.Teardown{}, err
			}}
		}, nil},
		{"fails where nothing is left to remove", "removing a run that is reopened and gone ten times", func() sbxtest.Hooks {
			return sbxtest.Hooks{Remove: func(ctx context.Context, next removeNext) (*runtime.Teardown, error) {
				t, err := next(ctx)
				if err == nil && t.How == "nothing" {
					return nil, runtime.Fail(runtime.Setup, "no such container")
				}
				return t, err
			}}
		}, nil},
		{"fails to kill what does not run", "killing a run that is ended ten times", func() sbxtest.Hooks {
			ended := false
			return sbxtest.Hooks{
				Wait: func(ctx context.Context, d time.Duration, next waitNext) (*runtime.Exit, error) {
					x, err := next(ctx, d)
					ended = err == nil
					return x, err
				},
				Kill: func(ctx context.Context, next func(context.Context) error) error {
					if ended {
						return runtime.Fail(runtime.Setup, "the container is not running")
					}
					return next(ctx)
				},
			}
		}, nil},
		{"leaves what a lost prepare made", "prepare does its work and its answer is lost", func() sbxtest.Hooks {
			return sbxtest.Hooks{Reopen: func(ctx context.Context, t runtime.Token, next func(context.Context, runtime.Token) (runtime.Resources, error)) (runtime.Resources, error) {
				t.Name = "none"
				return next(ctx, t)
			}}
		}, nil},
		{"cannot be removed beside another removal", "a removal beside others is safe", func() sbxtest.Hooks {
			var busy atomic.Bool
			return sbxtest.Hooks{Remove: func(ctx context.Context, next removeNext) (*runtime.Teardown, error) {
				if !busy.CompareAndSwap(false, true) {
					return nil, runtime.Fail(runtime.Uncertain, "a removal is in progress")
				}
				defer busy.Store(false)
				time.Sleep(time.Second)
				return next(ctx)
			}}
		}, nil},
		{"says that a partial export is whole", "an export above its bound is refused, and no candidate", func() sbxtest.Hooks {
			return sbxtest.Hooks{Export: func(ctx context.Context, dir string, a *runtime.Artifacts, next func(context.Context, string, *runtime.Artifacts) (*runtime.Manifest, error)) (*runtime.Manifest, error) {
				m, err := next(ctx, dir, a)
				if err != nil && m == nil {
					m = &runtime.Manifest{}
				}
				m.Whole = true
				return m, nil
			}}
		}, nil},
		{"changes what it exports", "a candidate holds what the command made", exported(func(dir string, m *runtime.Manifest) error {
			return os.WriteFile(filepath.Join(dir, m.Files[0].Path), []byte("other"), 0o644)
		}), nil},
		{"exports what was not declared", "nothing that was not declared is exported", exported(func(dir string, _ *runtime.Manifest) error {
			return os.WriteFile(filepath.Join(dir, "private"), []byte("x"), 0o644)
		}), nil},
		{"leaves a goroutine", "no goroutine is left", func() sbxtest.Hooks {
			return sbxtest.Hooks{Start: func(ctx context.Context, r *runtime.StartRequest, next startNext) (runtime.Process, error) {
				go time.Sleep(time.Hour)
				return next(ctx, r)
			}}
		}, nil},
	}
}

func mutantOwners() []mutant {
	type findNext = func(context.Context, string) ([]runtime.Token, int, error)
	reopen := func(change func(*runtime.Token)) func() sbxtest.Hooks {
		return func() sbxtest.Hooks {
			return sbxtest.Hooks{Reopen: func(ctx context.Context, t runtime.Token, next func(context.Context, runtime.Token) (runtime.Resources, error)) (runtime.Resources, error) {
				change(&t)
				return next(ctx, t)
			}}
		}
	}
	return []mutant{
		{"finds everybody's resources as its owner's", "an owner finds what is his, and only that", findsAll, nil},
		{"removes others' resources", "an owner that ran nothing has nothing", func() sbxtest.Hooks {
			return sbxtest.Hooks{Find: func(ctx context.Context, owner string, next findNext) ([]runtime.Token, int, error) {
				found, foreign, err := next(ctx, owner)
				return append(found, runtime.Token{Backend: "fake", Name: "sbx-other", Run: runtime.RunName{ID: "other", Owner: owner}}), foreign, err
			}}
		}, nil},
		{"finds nothing", "a resource without a record is found by its owner's label and removed", func() sbxtest.Hooks {
			return sbxtest.Hooks{Find: func(context.Context, string, findNext) ([]runtime.Token, int, error) { return nil, 0, nil }}
		}, nil},
		{"cannot kill by a token alone", "a run can be killed and reaped by its record alone", reopen(func(t *runtime.Token) { t.Name = "none" }), nil},
		{"leaves a crashed controller's resources", "a controller that dies after prepare leaves nothing after a reconcile", reopen(func(t *runtime.Token) { t.Name = "none" }), nil},
		{"says that a running command has exited", "a controller that dies while it runs leaves nothing after a reconcile", func() sbxtest.Hooks {
			return sbxtest.Hooks{Witnessed: func(context.Context, func(context.Context) (*runtime.Exit, error)) (*runtime.Exit, error) {
				return &runtime.Exit{Ran: true, Code: 0}, nil
			}}
		}, nil},
	}
}

// findsAll answers with what any owner of this backend has: one that forgot to filter by its label.
func findsAll() sbxtest.Hooks {
	var mu sync.Mutex
	var seen []runtime.Token
	return sbxtest.Hooks{
		Prepare: func(ctx context.Context, p *runtime.Plan, next prepareNext) (runtime.Resources, error) {
			mu.Lock()
			seen = append(seen, p.Token)
			mu.Unlock()
			return next(ctx, p)
		},
		Find: func(ctx context.Context, owner string, next func(context.Context, string) ([]runtime.Token, int, error)) ([]runtime.Token, int, error) {
			_, foreign, err := next(ctx, owner)
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(seen), foreign, err
		},
	}
}

func mutantSecrets() []mutant {
	value := func(r *runtime.Request) string {
		for _, v := range r.Env {
			if v.Name == "CI" {
				return v.Value
			}
		}
		return ""
	}
	return []mutant{
		{"keeps a secret in a label", "labels and tokens hold no private value", planned(nil, func(p *runtime.Plan) {
			p.Request.Labels = append(slices.Clone(p.Request.Labels), runtime.Label{Name: "env", Value: value(p.Request)})
		}), nil},
		{"keeps a secret in its token", "the journal holds no private value", planned(nil, func(p *runtime.Plan) {
			p.Token.Paths = append(p.Token.Paths, value(p.Request))
		}), nil},
		{"shows a secret in a word", "a plan shows no private value, by any verb", planned(nil, func(p *runtime.Plan) {
			p.Words = append(slices.Clone(p.Words), runtime.Word{Text: "--env=" + value(p.Request), Spec: "fake.yaml:1"})
		}), nil},
		{"says that a secret is public", "a plan shows no private value, by any verb", planned(func(r *runtime.Request) {
			r.Env = slices.Clone(r.Env)
			for i := range r.Env {
				r.Env[i].Public = true
			}
		}, nil), nil},
		{"shows a secret in its evidence", "a result shows no private value", func() sbxtest.Hooks {
			var mu sync.Mutex
			secret := ""
			return sbxtest.Hooks{
				Prepare: func(ctx context.Context, p *runtime.Plan, next prepareNext) (runtime.Resources, error) {
					mu.Lock()
					secret = value(p.Request)
					mu.Unlock()
					return next(ctx, p)
				},
				Guarantees: func(next func() []runtime.Guarantee) []runtime.Guarantee {
					g := slices.Clone(next())
					mu.Lock()
					defer mu.Unlock()
					g[0].Evidence = "environ: CI=" + secret
					return g
				},
			}
		}, nil},
		{"shows a secret in an event", "events tell no private value", func() sbxtest.Hooks {
			var mu sync.Mutex
			secret := ""
			return sbxtest.Hooks{
				Prepare: func(ctx context.Context, p *runtime.Plan, next prepareNext) (runtime.Resources, error) {
					mu.Lock()
					secret = value(p.Request)
					mu.Unlock()
					return next(ctx, p)
				},
				Remove: func(ctx context.Context, next removeNext) (*runtime.Teardown, error) {
					t, err := next(ctx)
					mu.Lock()
					defer mu.Unlock()
					if t != nil {
						t.Evidence = "removed the container with CI=" + secret
					}
					return t, err
				},
			}
		}, nil},
		{"shows a secret in an error", "errors show no private value", planError(func(r *runtime.Request) string { return value(r) }), nil},
		{"makes a digest of secrets", "a digest does not depend on private values", planned(nil, func(p *runtime.Plan) {
			p.Dropped = append(p.Dropped, runtime.Dropped{What: value(p.Request)})
		}), nil},
	}
}

// planError makes hooks whose start fails with something of the request in the message, where the start fails anyway.
func planError(what func(*runtime.Request) string) func() sbxtest.Hooks {
	return func() sbxtest.Hooks {
		var mu sync.Mutex
		secret := ""
		return sbxtest.Hooks{
			Prepare: func(ctx context.Context, p *runtime.Plan, next prepareNext) (runtime.Resources, error) {
				mu.Lock()
				secret = what(p.Request)
				mu.Unlock()
				return next(ctx, p)
			},
			Start: func(ctx context.Context, r *runtime.StartRequest, next startNext) (runtime.Process, error) {
				p, err := next(ctx, r)
				if err != nil {
					mu.Lock()
					defer mu.Unlock()
					return nil, runtime.Fail(runtime.Command, "env CI=%s: %w", secret, err)
				}
				return p, nil
			},
		}
	}
}
