//go:build linux

package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// TestAPrivateNetworkIsTheRunsOwn publishes a port of a server inside on the host's loopback, and looks at what the command sees of its
// names, its hosts and its name servers. The network goes with the run.
func TestAPrivateNetworkIsTheRunsOwn(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		port := freePort(t)
		var out bytes.Buffer
		l := e.launch(&out)
		l.Script = &sbx.Script{Interpreter: []string{"sh"}, Text: []byte(
			"cat /etc/hosts /etc/resolv.conf; sbx-probe listen 0.0.0.0:8080 &\nuntil sbx-probe connect localhost:8080; do sleep 0.05; done; [ -z \"$1\" ] || sbx-probe connect $1:8080; echo tried; wait\n"), Args: []string{"db"}}
		l.Network = sbx.Network{
			Mode: sbx.NetworkPrivate, Aliases: []string{"db"}, Hosts: []sbx.Host{{Name: "proxy", Address: netip.MustParseAddr("192.0.2.7")}},
			DNS: []netip.Addr{netip.MustParseAddr("192.0.2.53")}, Publish: []sbx.Port{{Container: 8080, Host: port}},
		}
		l.Ready = &sbx.Ready{Line: "tried"}
		plan, err := e.box.Plan(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		for _, words := range []string{
			" --network sbx-", " --network-alias db ", " --add-host proxy:192.0.2.7 ", " --dns 192.0.2.53 ", fmt.Sprintf(" --publish 127.0.0.1:%d:8080/tcp ", port),
		} {
			if !strings.Contains(plan.String(), words) {
				t.Errorf("the plan's words lack %q: %s", words, plan)
			}
		}
		run, err := e.start(t, l)
		if e.program == "podman" && errors.Is(err, sbx.ErrUnsupported) {
			// This Podman has no name service: it says so, and does the rest.
			if f := sbx.AsFailure(err, ""); f.Feature != "network.aliases" || f.Cure == "" {
				t.Fatal(err)
			}
			t.Log(err)
			l.Network.Aliases, l.Script.Args = nil, nil
			run, err = e.start(t, l)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		// It carries the run's labels.
		if networks := e.networks(); !strings.Contains(networks, `"sbx-`+run.ID()) || !strings.Contains(networks, `"`+sbx.LabelPrefix+`run":"`+run.ID()+`"`) {
			t.Errorf("the run's network is not among %s", networks)
		}
		if dns := e.get("/containers/sbx-" + run.ID() + "/json"); !strings.Contains(dns, "192.0.2.53") {
			t.Errorf("the engine did not take the name server: %s", dns)
		}
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			t.Errorf("the published port: %v", err)
		} else {
			if _, err := io.WriteString(c, "echo\n"); err != nil {
				t.Error(err)
			}
			answer := make([]byte, 5)
			if _, err := io.ReadFull(c, answer); err != nil || string(answer) != "echo\n" {
				t.Errorf("the server inside says %q, %v", answer, err)
			}
			c.Close()
		}
		if err := run.Kill(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if _, err := run.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		says := out.String()
		if len(l.Network.Aliases) != 0 && strings.Count(says, "connected\n") != 2 {
			t.Errorf("the alias is not found: %s", says)
		}
		if !strings.Contains(says, "192.0.2.7\tproxy\n") {
			t.Errorf("the host is not known: %s", says)
		}
		// Docker's own name server stands before those of a private network.
		if server := map[string]string{"docker": "127.0.0.11", "podman": "192.0.2.53"}[e.program]; !strings.Contains(says, "nameserver "+server+"\n") {
			t.Errorf("the name server is not %s: %s", server, says)
		}
		if networks := e.networks(); strings.Contains(networks, run.ID()) {
			t.Errorf("the run's network is left: %s", networks)
		}
	})
}

// freePort is a port of the loopback that nobody listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// networks lists the engine's networks with their labels.
func (e engine) networks() string { return e.get("/networks") }

// get asks the engine's API without a client in between.
func (e engine) get(path string) string {
	e.t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", strings.TrimPrefix(e.host, "unix://"))
	}}
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get("http://engine/v1.41" + path)
	if err != nil {
		e.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return string(body)
}
