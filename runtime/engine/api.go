package engine

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docker/docker/client"
)

// api is the link over an engine's API. One client is shared by all runs of a backend: its transport keeps the connections.
type api struct {
	at    endpoint
	cli   *client.Client
	dial  dialFunc
	limit deadlines
	// answering is true while the engine answered the last greeting.
	answering atomic.Bool
	negotiate sync.Once
	// versioned is the last answer to the question for the version.
	versioned atomic.Pointer[versioned]
	greeted
}

var _ link = (*api)(nil)

// idleConnections bounds the connections kept for the next call; each run has one in use for its wait and one for its streams besides.
const idleConnections = 64

// newAPI makes the link. It does not connect. program is the engine's, as another host has it, and env for what connects there.
func newAPI(e endpoint, program string, env []string, limit deadlines) (*api, error) {
	dial, err := dialer(e, program, env)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		// The dialer speaks TLS itself, so that attached connections (hijack.go) are dialled the same way as all others.
		DialContext:         dial,
		DisableCompression:  true,
		MaxIdleConns:        idleConnections,
		MaxIdleConnsPerHost: idleConnections,
		IdleConnTimeout:     30 * time.Second,
	}
	host := e.host
	if !strings.HasPrefix(host, "unix://") {
		u, err := url.Parse(e.host)
		if err != nil {
			return nil, fmt.Errorf("reading the endpoint %q: %w", e.host, err)
		}
		host = "tcp://" + u.Host
	}
	cli, err := client.NewClientWithOpts(
		client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect}),
		withoutTransport(host, transport, dial), client.WithScheme("http"), client.WithAPIVersionNegotiation(),
	)
	if err != nil {
		return nil, fmt.Errorf("making a client for %s: %w", e.host, err)
	}
	return &api{at: e, cli: cli, dial: dial, limit: limit}, nil
}

// withoutTransport sets the client's host and keeps our dialer, which WithHost replaces by its own.
func withoutTransport(host string, t *http.Transport, dial dialFunc) client.Opt {
	return func(c *client.Client) error {
		if err := client.WithHost(host)(c); err != nil {
			return err
		}
		t.DialContext, t.Proxy, t.DisableCompression = dial, nil, true
		return nil
	}
}

func (a *api) endpoint() endpoint { return a.at }

func (a *api) close() error { return a.cli.Close() }

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// dialTimeout bounds the making of one connection.
const dialTimeout = 10 * time.Second

// dialer gives the function that connects to an endpoint.
func dialer(e endpoint, program string, env []string) (dialFunc, error) {
	scheme, address, _ := strings.Cut(e.host, "://")
	d := net.Dialer{Timeout: dialTimeout}
	switch scheme {
	case "unix":
		return func(ctx context.Context, _, _ string) (net.Conn, error) { return d.DialContext(ctx, "unix", address) }, nil
	case "ssh":
		return sshDialer(e, program, env)
	case "tcp", "http", "https":
	default:
		return nil, fmt.Errorf("the endpoint %s: the scheme %q cannot be dialled on this platform", e.host, scheme)
	}
	u, err := url.Parse(e.host)
	if err != nil {
		return nil, fmt.Errorf("reading the endpoint %q: %w", e.host, err)
	}
	if u.Path != "" && u.Path != "/" {
		return nil, fmt.Errorf("the endpoint %s has a path, which is not supported", e.host)
	}
	plain := func(ctx context.Context, _, _ string) (net.Conn, error) { return d.DialContext(ctx, "tcp", u.Host) }
	if e.tls == nil && scheme != "https" {
		return plain, nil
	}
	files := e.tls
	if files == nil {
		files = &tlsFiles{}
	}
	config, err := tlsConfig(files, u.Hostname())
	if err != nil {
		return nil, err
	}
	secure := tls.Dialer{NetDialer: &d, Config: config}
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return secure.DialContext(ctx, "tcp", u.Host)
	}, nil
}

func tlsConfig(files *tlsFiles, server string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: server, InsecureSkipVerify: files.insecure}
	if files.ca != "" && !files.insecure {
		pem, err := os.ReadFile(files.ca)
		if err != nil {
			return nil, fmt.Errorf("reading the engine's certificate authority: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("reading the engine's certificate authority %s: no certificate in it", files.ca)
		}
		c.RootCAs = pool
	}
	if files.cert != "" || files.key != "" {
		pair, err := tls.LoadX509KeyPair(files.cert, files.key)
		if err != nil {
			return nil, fmt.Errorf("reading the client certificate for the engine: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
