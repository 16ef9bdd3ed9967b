package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

// contextStore writes a docker configuration with one context, and gives its directory.
func contextStore(t *testing.T, current, name, meta string, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	put := func(path, content string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("config.json", `{"currentContext":"`+current+`"}`)
	put("contexts/meta/"+id+"/meta.json", meta)
	for _, f := range files {
		put("contexts/tls/"+id+"/docker/"+f, "pem")
	}
	return dir
}

func TestTheEndpointIsTheOneNamedFirst(t *testing.T) {
	sockets, err := os.MkdirTemp("", "sbx")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(sockets) })
	l, err := net.Listen("unix", filepath.Join(sockets, "docker.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	socket := "unix://" + filepath.Join(sockets, "docker.sock")
	work := contextStore(t, "work", "work", `{"Name":"work","Endpoints":{"docker":{"Host":"tcp://10.0.0.1:2376"}}}`, "ca.pem", "cert.pem", "key.pem")
	usual := contextStore(t, "default", "work", `{"Endpoints":{"docker":{"Host":"ssh://me@there"}}}`)
	broken := contextStore(t, "gone", "work", `{}`)
	empty := contextStore(t, "work", "work", `{"Endpoints":{"kubernetes":{}}}`)
	for _, c := range []struct {
		name   string
		option string
		env    map[string]string
		host   string
		tls    bool
		want   error
	}{
		{"the option", "unix:///o", map[string]string{"DOCKER_HOST": "unix:///e"}, "unix:///o", false, nil},
		{"the variable", "", map[string]string{"DOCKER_HOST": "unix:///e", "DOCKER_CONFIG": work}, "unix:///e", false, nil},
		{"the second variable", "", map[string]string{"OTHER_HOST": "unix:///2"}, "unix:///2", false, nil},
		{"an empty variable is none", "", map[string]string{"DOCKER_HOST": "", "R": sockets}, socket, false, nil},
		{"the current context, with its TLS files", "", map[string]string{"DOCKER_CONFIG": work}, "tcp://10.0.0.1:2376", true, nil},
		{"the context of the environment", "", map[string]string{"DOCKER_CONFIG": usual, "DOCKER_CONTEXT": "work"}, "ssh://me@there", false, nil},
		{"the default context is the default socket", "", map[string]string{"DOCKER_CONFIG": usual, "R": sockets}, socket, false, nil},
		{"the configuration under HOME", "", map[string]string{"HOME": t.TempDir(), "R": sockets}, socket, false, nil},
		{"TLS of the environment", "", map[string]string{"DOCKER_HOST": "tcp://h:1", "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": "/c"}, "tcp://h:1", true, nil},
		{"a socket in an unset directory is left out", "", map[string]string{}, "", false, runtime.ErrUnsupported},
		{"no socket", "", map[string]string{"R": t.TempDir()}, "", false, runtime.ErrUnsupported},
		{"a context that is not there", "", map[string]string{"DOCKER_CONFIG": broken}, "", false, runtime.ErrSetup},
		{"a context without docker", "", map[string]string{"DOCKER_CONFIG": empty}, "", false, runtime.ErrSetup},
		{"no scheme", "", map[string]string{"DOCKER_HOST": "/var/run/docker.sock"}, "", false, runtime.ErrSetup},
		{"an unknown scheme", "gopher://x", nil, "", false, runtime.ErrSetup},
		{"a password", "ssh://me:secret@there", nil, "", false, runtime.ErrSetup},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := underTest{name: "Docker Engine", program: "docker"}.definition()
			d.Options.Endpoint, d.EndpointEnv, d.Contexts, d.Sockets = c.option, []string{"DOCKER_HOST", "OTHER_HOST"}, true, []string{"$R/docker.sock"}
			b, err := New(d)
			if err != nil {
				t.Fatal(err)
			}
			e, err := b.resolve(func(name string) (string, bool) {
				v, ok := c.env[name]
				return v, ok
			})
			if c.want != nil {
				if f := runtime.AsFailure(err, ""); !errors.Is(err, c.want) || f.Cure == "" {
					t.Fatalf("%v, want %v with a cure", err, c.want)
				}
				if strings.Contains(err.Error(), "secret") {
					t.Errorf("%v shows a password", err)
				}
				return
			}
			if err != nil || e.host != c.host || (e.tls != nil) != c.tls {
				t.Errorf("%+v, %v; want %s", e, err, c.host)
			}
		})
	}
}

func TestACureNamesTheEndpointItIsFor(t *testing.T) {
	for _, c := range []struct {
		program string
		e       endpoint
		want    string
	}{
		{"docker", endpoint{host: "unix:///var/run/docker.sock", from: "a default socket"}, "docker rm x"},
		{"docker", endpoint{host: "tcp://h:1", from: "the variable DOCKER_HOST"}, "docker --host tcp://h:1 rm x"},
		{"podman", endpoint{host: "unix:///s", from: "the option Endpoint"}, "podman --url unix:///s rm x"},
		{"docker", endpoint{host: "ssh://h", from: "the docker context a b", context: "a b"}, "docker --context 'a b' rm x"},
	} {
		b := underTest{name: "x", program: c.program}.backend(t)
		if got := b.command(&api{at: c.e}, "rm", "x"); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestErrorsNeverShowAPrivateValue(t *testing.T) {
	r := &runtime.Request{
		Env:         []runtime.Variable{{Name: "TOKEN", Value: "canary-1"}, {Name: "PUBLIC", Value: "visible", Public: true}},
		Credentials: []runtime.CredentialGrant{{Role: "git", Value: []byte("canary-2")}},
	}
	cause := &statusError{status: 400, message: "invalid environment variable: TOKEN=canary-1, canary-2, visible"}
	err := runtime.Fail(runtime.Setup, "making it: %w", hide(cause, r))
	for _, s := range []string{err.Error(), err.Message, err.Unwrap().Error()} {
		if strings.Contains(s, "canary") || !strings.Contains(s, "visible") {
			t.Errorf("%q", s)
		}
	}
	if !answered(err) {
		t.Error("what the engine's error is was lost with its text")
	}
}
