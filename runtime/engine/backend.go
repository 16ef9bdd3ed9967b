package engine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"

	"github.com/sbxkit/sbxkit/runtime"
)

// Backend drives one engine. It is safe for concurrent use; all runs share one link to each endpoint.
type Backend struct {
	def   Definition
	limit deadlines

	mu      sync.Mutex
	links   map[string]link
	proofs  map[proofOf]proof
	flights map[string]*flight
	probed  string // the endpoint of the last probe that found one
	closed  bool

	commands commandCache
}

var (
	_ runtime.Backend    = (*Backend)(nil)
	_ runtime.Ensurer    = (*Backend)(nil)
	_ runtime.Reconciler = (*Backend)(nil)
	_ runtime.Closer     = (*Backend)(nil)
)

// New makes a backend from a generated definition. It does not talk to the engine; an incomplete definition is an error.
func New(def Definition) (*Backend, error) {
	var missing []error
	for _, f := range []struct {
		name   string
		absent bool
	}{
		{"Description", def.Description == nil}, {"Argv", def.Argv == nil}, {"Explain", def.Explain == nil},
		{"Create", def.Create == nil}, {"Engines", len(def.Engines) == 0}, {"Program", def.Program == ""},
	} {
		if f.absent {
			missing = append(missing, fmt.Errorf("engine definition without %s", f.name))
		}
	}
	if len(missing) != 0 {
		return nil, errors.Join(missing...)
	}
	switch def.Options.Via {
	case ViaDefault, ViaAPI, ViaCLI:
	default:
		return nil, fmt.Errorf("engine %s: via %q is neither %q nor %q", def.Description.Name, def.Options.Via, ViaAPI, ViaCLI)
	}
	return &Backend{def: def, limit: defaultDeadlines(), links: map[string]link{}, proofs: map[proofOf]proof{}, flights: map[string]*flight{}}, nil
}

// Describe gives the spec's data.
func (b *Backend) Describe() *runtime.Description { return b.def.Description }

// Close gives up the connections kept for further calls. Runs that still go on lose theirs. Idempotent.
func (b *Backend) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	var errs []error
	for host, l := range b.links {
		if err := l.close(); err != nil {
			errs = append(errs, fmt.Errorf("closing the link to %s: %w", host, err))
		}
	}
	clear(b.links)
	return errors.Join(errs...)
}

// link gives the one link to an endpoint.
func (b *Backend) link(e endpoint, lookup func(string) (string, bool)) (link, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, runtime.Fail(runtime.Setup, "the backend %s is closed", b.def.Description.Name)
	}
	if l, ok := b.links[e.host]; ok {
		return l, nil
	}
	var l link
	var err error
	if b.def.Options.Via == ViaCLI {
		l, err = newCLI(e, b.program(lookup), lookup, b.limit)
		if errors.Is(err, exec.ErrNotFound) {
			return nil, runtime.Fail(runtime.Unsupported, "the program %s is not on this host: %w", b.program(lookup), err).WithCure("install it, or drive the engine by its API")
		}
	} else {
		l, err = newAPI(e, b.def.Program, clientEnvironment(lookup), b.limit)
		if errors.Is(err, exec.ErrNotFound) {
			return nil, runtime.Fail(runtime.Unsupported, "the endpoint %s needs ssh: %w", e, err).WithCure("install it, or name another endpoint")
		}
	}
	if err != nil {
		return nil, runtime.Fail(runtime.Setup, "%w", err).WithCure("%s names this endpoint", e.from)
	}
	b.links[e.host] = l
	return l, nil
}

// linkTo gives the link to the endpoint of a token: the one the probe made, or one found anew for a token of an earlier process.
func (b *Backend) linkTo(host string) (link, error) {
	b.mu.Lock()
	l, ok := b.links[host]
	b.mu.Unlock()
	if ok {
		return l, nil
	}
	e, err := b.resolve(os.LookupEnv)
	switch {
	case host == "":
		if err != nil {
			return nil, err
		}
	case err != nil || e.host != host:
		e = endpoint{host: host, from: "the journal"}
		if err := checkHost(host); err != nil {
			return nil, runtime.Fail(runtime.Setup, "the journal names the engine endpoint %q: %w", host, err)
		}
		e.tls = tlsFromEnvironment(os.LookupEnv)
	}
	return b.link(e, os.LookupEnv)
}
