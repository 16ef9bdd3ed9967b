package engine

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// authority makes certificates for both ends.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t}
	der, key := a.sign(&x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign})
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a.cert, a.key = cert, key
	return a
}

// sign signs by the authority, or by the new key itself where there is none yet.
func (a *authority) sign(c *x509.Certificate) ([]byte, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	parent, signer := a.cert, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		a.t.Fatal(err)
	}
	return der, key
}

func (a *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(a.cert)
	return p
}

// files writes ca.pem, cert.pem and key.pem of a client to dir.
func (a *authority) files(dir string) {
	a.t.Helper()
	der, key := a.sign(&x509.Certificate{SerialNumber: big.NewInt(2), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		a.t.Fatal(err)
	}
	for name, b := range map[string]*pem.Block{
		"ca.pem": {Type: "CERTIFICATE", Bytes: a.cert.Raw}, "cert.pem": {Type: "CERTIFICATE", Bytes: der}, "key.pem": {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(b), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
}

// overTLS serves an engine's socket on a port of the loopback to clients with a certificate of the authority, and gives its endpoint.
func (e underTest) overTLS(t *testing.T, a *authority) string {
	t.Helper()
	der, key := a.sign(&x509.Certificate{SerialNumber: big.NewInt(3), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: a.pool(),
	})
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wait.Go(func() {
				defer c.Close()
				if err := c.(*tls.Conn).Handshake(); err != nil {
					return
				}
				to, err := net.Dial("unix", strings.TrimPrefix(e.endpoint, "unix://"))
				if err != nil {
					return
				}
				defer to.Close()
				back := make(chan struct{})
				go func() {
					defer close(back)
					_, _ = io.Copy(c, to)
					_ = c.(*tls.Conn).CloseWrite()
				}()
				if _, err := io.Copy(to, c); err == nil {
					_ = to.(*net.UnixConn).CloseWrite()
				} else {
					to.Close()
				}
				<-back
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		wait.Wait()
	})
	return "tcp://" + l.Addr().String()
}

// TestARunOverTLS half-closes stdin through a connection whose ends have proved themselves, named by the environment and by a docker
// context.
func TestARunOverTLS(t *testing.T) {
	both := func(t *testing.T, f func(t *testing.T, e underTest)) {
		t.Run("api", func(t *testing.T) { eachEngine(t, f) })
		t.Run("cli", func(t *testing.T) { eachProgram(t, f) })
	}
	both(t, func(t *testing.T, e underTest) {
		if e.program == "podman" && e.via == ViaCLI {
			t.Skip("Podman's program has no TLS")
		}
		a := newAuthority(t)
		host := e.overTLS(t, a)
		run := func(t *testing.T, e underTest) {
			r := e.request("cat")
			r.Stdin = runtime.StdinPipe
			l := launch(t, e.backend(t), r)
			if _, err := io.WriteString(l.proc.Stdin(), "typed\n"); err != nil {
				t.Fatal(err)
			}
			if err := l.proc.Stdin().Close(); err != nil {
				t.Fatal(err)
			}
			if x := l.wait(); x.Code != 0 || l.out.String() != "typed\n" {
				t.Errorf("exit %+v, stdout %q", x, l.out.String())
			}
		}
		t.Run("environment", func(t *testing.T) {
			dir := t.TempDir()
			a.files(dir)
			t.Setenv("DOCKER_CERT_PATH", dir)
			t.Setenv("DOCKER_TLS_VERIFY", "1")
			e := e
			e.endpoint = host
			run(t, e)
		})
		t.Run("context", func(t *testing.T) {
			dir := contextStore(t, "work", "work", `{"Name":"work","Endpoints":{"docker":{"Host":"`+host+`"}}}`, "ca.pem")
			found, err := filepath.Glob(filepath.Join(dir, "contexts/tls/*/docker"))
			if err != nil || len(found) != 1 {
				t.Fatal(found, err)
			}
			a.files(found[0])
			t.Setenv("DOCKER_CONFIG", dir)
			t.Setenv("DOCKER_HOST", "")
			e := e
			e.endpoint = ""
			run(t, e)
		})
	})
}

func TestAnEngineThatCannotProveItselfIsRefused(t *testing.T) {
	e := underTest{name: "Docker Engine", program: "docker", endpoint: "unix:///no/such/socket"}
	a, other := newAuthority(t), newAuthority(t)
	host := e.overTLS(t, a)
	for _, c := range []struct {
		name, verify string
		files        *authority // nil for none
	}{
		{"another authority", "1", other}, {"no certificate of ours", "1", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.files != nil {
				c.files.files(dir)
			}
			t.Setenv("DOCKER_TLS_VERIFY", c.verify)
			t.Setenv("DOCKER_CERT_PATH", map[bool]string{true: dir}[c.files != nil])
			e := e
			e.endpoint = host
			_, err := e.backend(t).Probe(within(t), runtime.ProbeRequest{})
			if f := runtime.AsFailure(err, ""); !errors.Is(err, runtime.ErrSetup) || f.Cure == "" || !strings.Contains(err.Error(), "certificate") {
				t.Errorf("%v, want Setup for the certificate", err)
			}
		})
	}
}
