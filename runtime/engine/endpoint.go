package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// endpoint is where an engine answers, and with what it proves itself.
type endpoint struct {
	// host is the endpoint as engines write it: scheme "://" address.
	host string
	// from says who named it, for a person: "the variable DOCKER_HOST", "the docker context work", "a default socket".
	from string
	// tls names the files of a TLS connection; nil for none.
	tls *tlsFiles
	// context is the name of a docker context, for the command line; empty for none.
	context string
}

// tlsFiles are the PEM files of a TLS connection; an empty name is not used.
type tlsFiles struct {
	ca, cert, key string
	// insecure accepts any certificate of the server.
	insecure bool
}

// local reports whether the endpoint is a socket of this host. What stands behind a local socket can still be elsewhere (a virtual
// machine, a forwarded socket): only the probe can tell.
func (e endpoint) local() bool {
	return e.host == "" || strings.HasPrefix(e.host, "unix://") || strings.HasPrefix(e.host, "npipe://")
}

// String names the endpoint for a person.
func (e endpoint) String() string {
	if e.host == "" {
		return e.from
	}
	return e.host + " (" + e.from + ")"
}

// resolve finds the engine's endpoint: the caller's option, the variables of the definition, the current context, then the first default
// socket that is there. Where nothing is there the host has no engine: Unsupported.
func (b *Backend) resolve(lookup func(string) (string, bool)) (endpoint, error) {
	e, err := b.named(lookup)
	if err != nil {
		return endpoint{}, err
	}
	if e.host == "" && b.def.Options.Via == ViaCLI {
		// The program knows its own default.
		return endpoint{from: "a default of the program"}, nil
	}
	if e.host == "" {
		return b.defaultSocket(lookup)
	}
	if err := checkHost(e.host); err != nil {
		return endpoint{}, runtime.Fail(runtime.Setup, "%s names the engine endpoint %q: %w", e.from, withoutPassword(e.host), err).
			WithCure("write it as unix:///path, tcp://host:port or ssh://user@host")
	}
	if e.tls == nil && strings.HasPrefix(e.host, "tcp://") {
		e.tls = tlsFromEnvironment(lookup)
	}
	return e, nil
}

// named gives the endpoint somebody named, or the zero value.
func (b *Backend) named(lookup func(string) (string, bool)) (endpoint, error) {
	if o := b.def.Options.Endpoint; o != "" {
		return endpoint{host: o, from: "the option Endpoint"}, nil
	}
	for _, name := range b.def.EndpointEnv {
		if v, ok := lookup(name); ok && v != "" {
			return endpoint{host: v, from: "the variable " + name}, nil
		}
	}
	if b.def.Contexts {
		return currentContext(lookup)
	}
	return endpoint{}, nil
}

// defaultSocket gives the first default socket that exists.
func (b *Backend) defaultSocket(lookup func(string) (string, bool)) (endpoint, error) {
	var tried []string
	for _, s := range b.def.Sockets {
		path, ok := expandSocket(s, lookup)
		if !ok {
			continue
		}
		i, err := os.Stat(path)
		if err == nil && i.Mode()&fs.ModeSocket != 0 {
			return endpoint{host: "unix://" + path, from: "a default socket"}, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			tried = append(tried, fmt.Sprintf("%s (%v)", path, errors.Unwrap(err)))
			continue
		}
		tried = append(tried, path)
	}
	return endpoint{}, runtime.Fail(runtime.Unsupported, "no engine on this host: no socket at %s", strings.Join(tried, ", ")).
		WithCure("start %s's engine, or set %s", b.program(lookup), strings.Join(b.def.EndpointEnv, " or ")).Because(fs.ErrNotExist)
}

// expandSocket replaces a leading $NAME by the variable's value; false where it is not set.
func expandSocket(s string, lookup func(string) (string, bool)) (string, bool) {
	if !strings.HasPrefix(s, "$") {
		return s, true
	}
	name, rest, _ := strings.Cut(s[1:], "/")
	v, ok := lookup(name)
	if !ok || v == "" {
		return "", false
	}
	return v + "/" + rest, true
}

// withoutPassword is an endpoint as it may be shown.
func withoutPassword(host string) string {
	u, err := url.Parse(host)
	if err != nil {
		return "(unreadable)"
	}
	return u.Redacted()
}

func checkHost(host string) error {
	scheme, address, ok := strings.Cut(host, "://")
	if !ok || address == "" {
		return errors.New("it has no scheme or no address")
	}
	switch scheme {
	case "unix", "npipe":
		return nil
	case "tcp", "http", "https", "ssh":
		u, err := url.Parse(host)
		if err != nil {
			return err
		}
		if u.User != nil {
			if _, secret := u.User.Password(); secret {
				return errors.New("it holds a password, which would be shown wherever the endpoint is")
			}
		}
		return nil
	}
	return fmt.Errorf("the scheme %q is not known", scheme)
}

// tlsFromEnvironment reads the docker command line's variables for TLS; nil where they are not set.
func tlsFromEnvironment(lookup func(string) (string, bool)) *tlsFiles {
	dir, _ := lookup("DOCKER_CERT_PATH")
	verify, _ := lookup("DOCKER_TLS_VERIFY")
	if dir == "" {
		if verify == "" {
			return nil
		}
		return &tlsFiles{}
	}
	return &tlsFiles{ca: dir + "/ca.pem", cert: dir + "/cert.pem", key: dir + "/key.pem", insecure: verify == ""}
}

// program is the engine's command line program: the override, the option, the definition's.
func (b *Backend) program(lookup func(string) (string, bool)) string {
	if b.def.Override != "" && lookup != nil {
		if v, ok := lookup(b.def.Override); ok && v != "" {
			return v
		}
	}
	if b.def.Options.Program != "" {
		return b.def.Options.Program
	}
	return b.def.Program
}
