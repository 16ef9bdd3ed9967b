package engine

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/internal/testhost"
)

// checked is the test image with a health check that asks for the file /tmp/well.
func (e underTest) checked(t *testing.T) string {
	t.Helper()
	engine := func(words ...string) string {
		t.Helper()
		cmd := exec.CommandContext(within(t), e.program, append([]string{"--host", e.endpoint}, words...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", cmd, err)
		}
		return strings.TrimSpace(string(out))
	}
	id := engine("create", e.image, "true")
	defer engine("rm", id)
	image := engine("commit", "--change", `HEALTHCHECK --interval=50ms --retries=1 --start-period=1h CMD ["test", "-e", "/tmp/well"]`, id)
	t.Cleanup(func() {
		if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), e.program, "--host", e.endpoint, "rmi", image).CombinedOutput(); err != nil {
			t.Errorf("removing the image: %v: %s", err, out)
		}
	})
	return image
}

// TestHealthIsOfARunningCommandAlone: what an engine says of the health of a container that has ended is no finding.
func TestHealthIsOfARunningCommandAlone(t *testing.T) {
	host, image := testhost.Docker(t)
	e := underTest{name: "Docker Engine", program: "docker", endpoint: host, image: image, via: ViaAPI}
	b := e.backend(t)
	r := e.request("sh", "-c", "mkdir -p /tmp; touch /tmp/well; cat")
	r.Image.Ref, r.Stdin = e.checked(t), "pipe"
	l := launch(t, b, r)
	ctx := within(t)
	health := func() string {
		t.Helper()
		h, err := l.proc.Health(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	for h := health(); h != "healthy"; h = health() {
		if h != "starting" {
			t.Fatalf("health %q before the first check", h)
		}
	}
	if err := l.proc.Stdin().Close(); err != nil {
		t.Fatal(err)
	}
	if x := l.wait(); x.Code != 0 {
		t.Fatalf("exit %+v", x)
	}
	if h := health(); h != "" {
		t.Errorf("health %q of a command that has ended", h)
	}
}
