package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sbxkit/sbxkit/runtime"
)

// currentContext gives the endpoint of docker's current context: the one DOCKER_CONTEXT names, else the configuration's. The zero value
// is the default context, which has no endpoint of its own. The layout is that of the docker command line's context store
// (docker/cli, cli/context/store): contexts/meta/<sha256 of the name>/meta.json and contexts/tls/<sha256>/docker/*.pem.
func currentContext(lookup func(string) (string, bool)) (endpoint, error) {
	dir, ok := lookup("DOCKER_CONFIG")
	if !ok || dir == "" {
		home, ok := lookup("HOME")
		if !ok || home == "" {
			return endpoint{}, nil
		}
		dir = filepath.Join(home, ".docker")
	}
	name, _ := lookup("DOCKER_CONTEXT")
	if name == "" {
		var config struct {
			CurrentContext string `json:"currentContext"`
		}
		if err := readJSON(filepath.Join(dir, "config.json"), &config); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return endpoint{}, nil
			}
			return endpoint{}, runtime.Fail(runtime.Setup, "reading docker's configuration: %w", err).
				WithCure("mend or remove %s", filepath.Join(dir, "config.json"))
		}
		name = config.CurrentContext
	}
	if name == "" || name == "default" {
		return endpoint{}, nil
	}
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	if err := readJSON(filepath.Join(dir, "contexts", "meta", id, "meta.json"), &meta); err != nil {
		return endpoint{}, runtime.Fail(runtime.Setup, "reading the docker context %q: %w", name, err).
			WithCure("docker context ls shows the contexts there are; docker context use default leaves this one")
	}
	docker, ok := meta.Endpoints["docker"]
	if !ok || docker.Host == "" {
		return endpoint{}, runtime.Fail(runtime.Setup, "the docker context %q names no docker endpoint", name).
			WithCure("docker context inspect %s", runtime.ShellQuote(name))
	}
	e := endpoint{host: docker.Host, from: "the docker context " + name, context: name}
	files := tlsFiles{insecure: docker.SkipTLSVerify}
	found := false
	for _, f := range []struct {
		name string
		into *string
	}{{"ca.pem", &files.ca}, {"cert.pem", &files.cert}, {"key.pem", &files.key}} {
		path := filepath.Join(dir, "contexts", "tls", id, "docker", f.name)
		if _, err := os.Stat(path); err == nil {
			*f.into, found = path, true
		} else if !errors.Is(err, fs.ErrNotExist) {
			return endpoint{}, runtime.Fail(runtime.Setup, "reading the TLS files of the docker context %q: %w", name, err)
		}
	}
	if found || docker.SkipTLSVerify {
		e.tls = &files
	}
	return e, nil
}

func readJSON(path string, into any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
