package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	cerrdefs "github.com/containerd/errdefs"
)

// cli is the link over an engine's own command line program, for hosts where only that reaches the engine (a context, a wrapper). Each
// call is one process of the program in a session of its own. What the program says on its standard error is for people and never
// read; its exit status tells failure from success and nothing more: whether something is not there, or the engine does not answer, is
// asked separately.
type cli struct {
	at endpoint
	// program is the resolved path; flags go before every subcommand.
	program string
	flags   []string
	env     []string
	config  string // a variable of the environment that is Docker's alone
	limit   deadlines
	met     atomic.Pointer[met]
	greeted
}

var _ link = (*cli)(nil)

// newCLI makes the link. It starts nothing.
func newCLI(e endpoint, program string, lookup func(string) (string, bool), limit deadlines) (*cli, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	c := &cli{at: e, program: path, env: clientEnvironment(lookup), config: dockerConfig(lookup), limit: limit}
	switch {
	case e.context != "":
		c.flags = []string{"--context", e.context}
	case e.host != "":
		c.flags = []string{"--host", e.host}
	}
	return c, nil
}

// clientVariables are what the program itself needs of the controller's environment: where it finds its configuration, its engine and its
// keys. Patterns may end in *.
var clientVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "LC_ALL", "DOCKER_*", "CONTAINER_*", "CONTAINERS_*", "XDG_*", "SSH_AUTH_SOCK",
	"DBUS_SESSION_BUS_ADDRESS", "BUILDAH_*", "_CONTAINERS_*", "STORAGE_*", "SystemRoot", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
}

// clientEnvironment is the environment of the program. What follows from HOME is said outright: a variable of the run can take HOME's
// place in it, since that is where the program takes the run's values from.
func clientEnvironment(lookup func(string) (string, bool)) []string {
	var env []string
	for _, e := range os.Environ() {
		name, _, _ := strings.Cut(e, "=")
		for _, v := range clientVariables {
			if prefix, ok := strings.CutSuffix(v, "*"); v == name || ok && strings.HasPrefix(name, prefix) {
				if value, ok := lookup(name); ok {
					env = append(env, name+"="+rooted(name, value))
				}
				break
			}
		}
	}
	home, ok := lookup("HOME")
	if !ok || home == "" {
		return env
	}
	for _, d := range []struct{ name, path string }{{"XDG_DATA_HOME", "/.local/share"}, {"XDG_CONFIG_HOME", "/.config"}} {
		if v, ok := lookup(d.name); !ok || v == "" {
			env = append(env, d.name+"="+home+d.path)
		}
	}
	return env
}

// dockerConfig says where Docker's program has its configuration, in the same way; empty where that is said already. Podman's is not told:
// it fails to pull where no such file is (4.3.1, measured).
func dockerConfig(lookup func(string) (string, bool)) string {
	home, _ := lookup("HOME")
	if v, _ := lookup("DOCKER_CONFIG"); v != "" || home == "" {
		return ""
	}
	return "DOCKER_CONFIG=" + home + "/.docker"
}

// pathVariables are those of clientVariables that name a file or a directory. The program works in another directory than the controller,
// so a relative one is made absolute.
var pathVariables = []string{
	"HOME", "TMPDIR", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "CONTAINERS_CONF", "CONTAINERS_CONF_OVERRIDE", "CONTAINERS_STORAGE_CONF",
	"CONTAINERS_REGISTRIES_CONF", "CONTAINER_SSHKEY", "SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR",
}

func rooted(name, value string) string {
	if value == "" || !slices.Contains(pathVariables, name) {
		return value
	}
	if abs, err := filepath.Abs(value); err == nil {
		return abs
	}
	return value
}

func (c *cli) endpoint() endpoint { return c.at }

func (c *cli) close() error { return nil }

// client is one process of the program. It works in the root directory, not in the controller's: what monitors a container of Podman's
// without a service writes a file "oom" to its working directory when the container runs out of memory (conmon 2.1, src/oom.c).
func (c *cli) client(ctx context.Context, words ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.program, slices.Concat(c.flags, words)...)
	cmd.Env = c.env
	if c.config != "" && !c.isPodman() {
		cmd.Env = slices.Concat(cmd.Env, []string{c.config})
	}
	cmd.Dir = string(filepath.Separator)
	ownSession(cmd)
	// A helper of the program (ssh) can hold its pipes open after it; it ends when they break. The client alone is killed, by a handle on
	// the process: its group may be a stranger's by the time it was reaped.
	cmd.WaitDelay = time.Second
	return cmd
}

// cliError is a call that failed, with what the program said about it for a person.
type cliError struct {
	words []string
	says  string
	err   error
	// class is what was found out about it by asking again: cerrdefs.ErrNotFound, or an answer of another kind.
	class error
}

func (e *cliError) Error() string {
	s := e.words[0]
	if len(e.words) > 1 && !strings.HasPrefix(e.words[1], "-") {
		s += " " + e.words[1]
	}
	if says := strings.Join(strings.FieldsFunc(e.says, func(r rune) bool { return r == '\n' || r == '\r' }), "; "); says != "" {
		return s + ": " + says
	}
	return s + ": " + e.err.Error()
}

func (e *cliError) Unwrap() []error { return []error{e.err, e.class} }

// maxSays bounds what is kept of the program's standard error, and maxOutput what one call may answer.
const (
	maxSays   = 4 << 10
	maxOutput = 64 << 20
)

// call runs one short subcommand to its end and gives its output.
func (c *cli) call(ctx context.Context, d time.Duration, in io.Reader, words ...string) ([]byte, error) {
	return c.callWith(ctx, d, nil, in, words...)
}

// callWith is call with more variables in the program's environment.
func (c *cli) callWith(ctx context.Context, d time.Duration, env []string, in io.Reader, words ...string) ([]byte, error) {
	ctx, cancel := bounded(ctx, d, c.name(words))
	defer cancel()
	cmd := c.client(ctx, words...)
	cmd.Env = slices.Concat(cmd.Env, env)
	var out, says capped
	out.limit, says.limit = maxOutput, maxSays
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &says
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, &cliError{words: words, says: strings.TrimSpace(says.String()), err: err}
	}
	return out.Bytes(), nil
}

func (c *cli) name(words []string) string { return shellWords(append([]string{c.program}, words...)) }

// classify finds out what a failed call failed of: look asks whether the thing is there. An engine that does not answer leaves the error
// as it is, without an answer.
func (c *cli) classify(ctx context.Context, err error, look func(context.Context) (bool, error)) error {
	var failed *cliError
	if !errors.As(err, &failed) {
		return err
	}
	if !c.alive(ctx) {
		return err
	}
	failed.class = cerrdefs.ErrUnknown
	if look == nil {
		return failed
	}
	there, e := look(ctx)
	if e == nil && !there {
		failed.class = cerrdefs.ErrNotFound
	}
	return failed
}

// capped keeps the first bytes of what is written to it.
type capped struct {
	bytes.Buffer
	limit int
}

func (c *capped) Write(p []byte) (int, error) {
	if room := c.limit - c.Len(); room > 0 {
		c.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// decode reads the first element of the JSON array that inspect subcommands print.
func decodeFirst(out []byte, into any) error {
	var list []json.RawMessage
	if err := json.Unmarshal(out, &list); err != nil {
		return fmt.Errorf("reading the program's answer: %w", err)
	}
	if len(list) == 0 {
		return fmt.Errorf("the program's answer is empty: %w", cerrdefs.ErrNotFound)
	}
	if err := json.Unmarshal(list[0], into); err != nil {
		return fmt.Errorf("reading the program's answer: %w", err)
	}
	return nil
}
