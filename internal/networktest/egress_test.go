//go:build linux

// Package networktest tries on every real backend of this host what a command can reach.
//
//sbx:seam its tests drive every real backend
package networktest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/generated/bwrap"
	"github.com/sbxkit/sbxkit/generated/docker"
	"github.com/sbxkit/sbxkit/generated/podman"
	"github.com/sbxkit/sbxkit/internal/testhost"
	sbx "github.com/sbxkit/sbxkit/runtime"
)

// TestEgressIsTheOneWayOut lets a command talk to the caller's socket, and to nothing else: not to the host's loopback, not to a unix socket
// with an abstract name.
func TestEgressIsTheOneWayOut(t *testing.T) {
	for name, make := range map[string]func(testing.TB) (sbx.Backend, error){
		"bwrap": func(t testing.TB) (sbx.Backend, error) { testhost.Bwrap(t); return bwrap.New(bwrap.Options{}) },
		"docker": func(t testing.TB) (sbx.Backend, error) {
			h, _ := testhost.Docker(t)
			return docker.New(docker.Options{Endpoint: h})
		},
		"podman": func(t testing.TB) (sbx.Backend, error) {
			h, _ := testhost.Podman(t)
			return podman.New(podman.Options{Endpoint: h})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := make(t)
			if err != nil {
				t.Fatal(err)
			}
			toolbox, _ := testhost.Toolbox(t)
			box, err := sbx.New(b)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := box.Close(); err != nil {
					t.Error(err)
				}
			}()
			// A socket's path is bounded by 108 bytes (unix(7)), which a test's own directory may be beyond.
			dir, err := os.MkdirTemp("", "sbx")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			socket := filepath.Join(dir, "proxy")
			serve(t, "unix", socket)
			loopback := serve(t, "tcp", "127.0.0.1:0")
			serve(t, "unix", "@sbx-egress-test")

			try := func(words ...string) (string, *sbx.Result) {
				t.Helper()
				var out bytes.Buffer
				l := sbx.Launch{
					Argv: append([]string{"/opt/toolbox"}, words...), Stdout: &out, Timeouts: sbx.Timeouts{Wall: 30 * time.Second},
					Mounts:  []sbx.Mount{{Kind: sbx.MountBindRO, Source: toolbox, Target: "/opt/toolbox"}},
					Network: sbx.Network{Mode: sbx.NetworkEgress, Socket: socket},
				}
				if b.Describe().Kind == "engine" {
					l.Image.Ref, l.Argv, l.Mounts = os.Getenv("SBX_TEST_IMAGE"), words, nil
				}
				res, err := box.Run(t.Context(), l)
				if err != nil {
					t.Fatal(err)
				}
				return out.String(), res
			}
			if out, res := try("nc", "-U", sbx.EgressTarget); !res.Success() || out != "here" {
				t.Errorf("the proxy's socket gave %q, %v", out, res)
			}
			if out, _ := try("env"); !strings.Contains(out, "SBX_EGRESS_SOCKET="+sbx.EgressTarget+"\n") {
				t.Errorf("the command is not told where the socket is: %q", out)
			}
			host, port, err := net.SplitHostPort(loopback)
			if err != nil {
				t.Fatal(err)
			}
			if out, res := try("nc", host, port); res.Success() || out != "" {
				t.Errorf("the host's loopback gave %q, %v", out, res)
			}
			if out, res := try("nc", "-U", "@sbx-egress-test"); res.Success() || out != "" {
				t.Errorf("an abstract socket gave %q, %v", out, res)
			}
			_, err = box.Run(context.Background(), sbx.Launch{Argv: []string{"true"}, Network: sbx.Network{Mode: sbx.NetworkEgress}, Image: sbx.Image{Ref: os.Getenv("SBX_TEST_IMAGE")}})
			if !errors.Is(err, sbx.ErrDenied) && !errors.Is(err, sbx.ErrUnsupported) {
				t.Errorf("egress without a socket: %v", err)
			}
		})
	}
}

// serve answers every connection with one word, until the test ends.
func serve(t *testing.T, network, address string) string {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "here")
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}
