//go:build linux

package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

// deadline bounds what is asked of an engine past what is tested; nothing takes that long.
const deadline = 2 * time.Minute

// read reads one JSON answer of the engine's API, past all that is tested.
func (e engine) read(ctx context.Context, path string, into any) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", strings.TrimPrefix(e.host, "unix://"))
	}}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://engine"+path, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s: %s", path, resp.Status, bytes.TrimSpace(body))
	}
	return json.Unmarshal(body, into)
}

// ask runs the engine's program to its end and gives what it printed. It finds its engine by the variables of hack/setup.
func (e engine) ask(ctx context.Context, words ...string) (string, error) {
	cmd := exec.CommandContext(ctx, e.program, words...)
	cmd.Env = reader()
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("%s %s: %w: %s", e.program, strings.Join(words, " "), err, bytes.TrimSpace(failed.Stderr))
	}
	return strings.TrimSpace(string(out)), err
}

// reader is the environment of a person who reads what is printed, as far as the engines' programs need it.
func reader() []string {
	env := []string{"PATH=" + os.Getenv("PATH")}
	for _, name := range []string{"HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
