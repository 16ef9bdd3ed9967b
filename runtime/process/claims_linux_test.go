package process_test

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/generated/bwrap"
	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/mounts"
	"github.com/sbxkit/sbxkit/runtime/process"
)

// TestEveryClaimOfBubblewrapIsBrokenOnPurpose plans launches that ask for all that bubblewrap's spec can do, and finds each claim of the plans
// among those that a test breaks.
func TestEveryClaimOfBubblewrapIsBrokenOnPurpose(t *testing.T) {
	b, err := bwrap.New(bwrap.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := runtime.Launch{Argv: []string{"true"}, Stdin: runtime.Stdin{Mode: runtime.StdinPipe}}
	asked := map[string]bool{}
	for _, f := range b.Describe().Features {
		if f.How == runtime.HowUnsupported {
			continue
		}
		name, isHardening := strings.CutPrefix(f.Name, "hardening.")
		switch {
		case f.Name == "limits.cpuset":
			all.Limits.CPUSet = "0"
			asked[f.Name] = true
		case f.Name == "limits.output": // the driver's own: it counts, and nothing is claimed of the kernel
		case all.Limits.Put(f.Name, runtime.AtMost(0)):
			asked[f.Name] = true
		case isHardening:
			asked[f.Name] = true
			if name == "seccomp" {
				all.Hardening.Seccomp = "default"
			}
		}
	}
	all.Hardening.Init = true
	proxy, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	caller, user, host, egress := all, all, all, all
	caller.User.Kind = runtime.UserCaller
	user.User = runtime.User{Kind: runtime.UserID, UID: 1234, GID: 1234}
	host.Network.Mode = runtime.NetworkHost
	egress.Network = runtime.Network{Mode: runtime.NetworkEgress, Socket: proxy.Addr().String()}
	for _, n := range []string{"user.caller", "user.id", "network.none", "network.egress"} {
		asked[n] = true
	}

	broken := process.BrokenOnPurpose()
	for name, l := range map[string]runtime.Launch{"caller": caller, "user": user, "host": host, "egress": egress} {
		id := runtime.Identity{Backend: "bwrap", Kind: "process"}
		req, dropped, err := runtime.Resolve(runtime.ResolveInput{Description: b.Describe(), Launch: &l, Identity: id})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p, err := b.Plan(runtime.PlanInput{Request: req, Identity: id, Host: mounts.OS{}, Dropped: dropped})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, c := range p.Claims {
			delete(asked, c.Name)
			if !broken[c.Name] {
				t.Errorf("%s: %s is claimed (%s), and no test breaks it", name, c.Name, c.Value)
			}
		}
	}
	for n := range asked {
		t.Errorf("%s was asked for, and no plan claims it", n)
	}
}
