//go:build linux

package enginetest

import (
	"bytes"
	"os"
	"strings"
	"testing"

	sbx "github.com/sbxkit/sbxkit/runtime"
	driver "github.com/sbxkit/sbxkit/runtime/engine"
)

// TestAnInitIsHadWhereTheEngineHasOne looks at what the command's parent is, and stands before an engine that has no init to give.
func TestAnInitIsHadWhereTheEngineHasOne(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		var out bytes.Buffer
		l := e.launch(&out)
		l.Script = &sbx.Script{Interpreter: []string{"sh"}, Text: []byte("echo $$; kill -9 $$\n")}
		res, err := e.box.Run(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		// Process 1 is not ended by a signal of its own.
		if strings.TrimSpace(out.String()) == "1" || res.Code != 137 && res.Outcome != sbx.Signaled {
			t.Errorf("the command is process %s, and %v", out.String(), res)
		}
		if f := res.Facts.Dropped; dropped(res, "hardening.init") {
			t.Errorf("dropped %v", f)
		}
	})
	each(t, func(t *testing.T, e engine) {
		box := e.sandbox(e.behind(func(request map[string]any) (string, error) {
			if host, ok := request["HostConfig"].(map[string]any); ok && host["Init"] == true {
				return "container-init binary not found on the host", nil
			}
			return "", nil
		}))
		var out bytes.Buffer
		l := e.launch(&out)
		l.Script = &sbx.Script{Interpreter: []string{"sh"}, Text: []byte("echo $$\n")}
		l.Workspace = &sbx.Workspace{Source: t.TempDir()} // Docker's is asked about only with a look
		res, err := box.Run(t.Context(), l)
		if err != nil || strings.TrimSpace(out.String()) != "1" || !dropped(res, "hardening.init") {
			t.Errorf("%v, %v: process %s", res, err, out.String())
		}
	}, driver.ViaAPI)
}

func dropped(res *sbx.Result, what string) bool {
	for _, d := range res.Facts.Dropped {
		if d.What == what {
			return true
		}
	}
	return false
}

// TestACgroupNamespaceIsClaimedOnlyWhereThereIsOne compares the facts with the kernel's own name of the namespace: Podman's Docker API drops
// what was asked.
func TestACgroupNamespaceIsClaimedOnlyWhereThereIsOne(t *testing.T) {
	each(t, func(t *testing.T, e engine) {
		host, err := os.Readlink("/proc/self/ns/cgroup")
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		l := e.launch(&out)
		l.Script = &sbx.Script{Interpreter: []string{"sh"}, Text: []byte("ls -l /proc/self/ns\n")}
		res, err := e.box.Run(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		own := !strings.Contains(out.String(), host)
		claimed := false
		for _, g := range res.Facts.Guarantees {
			if g.Name == "hardening.cgroup-namespace" {
				claimed = g.Measured == sbx.MeasuredHolds || g.Measured == sbx.MeasuredReadback
			}
		}
		t.Logf("own %v, claimed %v, dropped %v: %s", own, claimed, res.Facts.Dropped, out.String())
		if claimed && !own || !claimed && own && !dropped(res, "hardening.cgroup-namespace") {
			t.Errorf("a namespace of its own: %v, claimed: %v, %+v\n%s", own, claimed, res.Facts.Dropped, out.String())
		}
	})
}
