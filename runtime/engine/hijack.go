package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/containerd/errdefs/pkg/errhttp"
	"github.com/docker/docker/client"
)

// wire is a connection that stopped being HTTP: bytes in both directions.
type wire struct {
	net.Conn
	r *bufio.Reader
}

func (w *wire) Read(p []byte) (int, error) { return w.r.Read(p) }

// closeWriter is a connection that can be half-closed.
type closeWriter interface{ CloseWrite() error }

// hijack sends a POST that upgrades its connection. The client package has a call for this, which bounds the dialling by its context
// and nothing after it, and drops the engine's message when the engine refuses; both matter here.
func (a *api) hijack(ctx context.Context, path string, query url.Values, body any) (*wire, error) {
	payload := []byte{}
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("encoding the request of %s: %w", path, err)
		}
	}
	u := "http://" + client.DummyHost + "/v" + a.cli.ClientVersion() + path
	if len(query) != 0 {
		u += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u, bytes.NewReader(payload))
	if err != nil {
		return nil, fmt.Errorf("making the request of %s: %w", path, err)
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "tcp")
	req.Header.Set("Content-Type", "application/json")

	conn, err := a.dial(ctx, "", "")
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", a.at.host, err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	w, err := upgrade(conn, req)
	if !stop() {
		conn.Close()
		return nil, context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return w, nil
}

// upgrade writes the request and reads the engine's answer to it.
func upgrade(conn net.Conn, req *http.Request) (*wire, error) {
	if t, ok := conn.(*net.TCPConn); ok {
		// An attached connection may be silent for as long as its command is: keep-alive tells a dead peer from a quiet one.
		if err := t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second}); err != nil {
			return nil, fmt.Errorf("setting keep-alive: %w", err)
		}
	}
	if err := req.Write(conn); err != nil {
		return nil, fmt.Errorf("sending the request: %w", err)
	}
	r := bufio.NewReaderSize(conn, frameBuffer)
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return nil, fmt.Errorf("reading the engine's answer: %w", err)
	}
	// Docker answers 101; older engines hijack with 200.
	if resp.StatusCode == http.StatusSwitchingProtocols || resp.StatusCode == http.StatusOK {
		return &wire{Conn: conn, r: r}, nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 16<<10))
	if err != nil {
		return nil, fmt.Errorf("reading the engine's answer %d: %w", resp.StatusCode, err)
	}
	var message struct{ Message string }
	if json.Unmarshal(text, &message) != nil || message.Message == "" {
		message.Message = http.StatusText(resp.StatusCode)
	}
	return nil, &statusError{status: resp.StatusCode, message: message.Message}
}

// statusError is an engine's answer with an HTTP status, in the same error classes as the client's own.
type statusError struct {
	status  int
	message string
}

func (e *statusError) Error() string { return e.message }

func (e *statusError) Unwrap() error { return errhttp.ToNative(e.status) }

// halfClose ends the writing side of a connection.
func halfClose(c net.Conn) error {
	w, ok := c.(closeWriter)
	if !ok {
		return errors.ErrUnsupported
	}
	return w.CloseWrite()
}
