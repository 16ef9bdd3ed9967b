package sbxtest

import (
	"os"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// interfaces are the names of the network interfaces in a text of /proc/net/dev (proc_pid_net(5)).
func interfaces(dev string) (names []string) {
	for _, line := range linesOf(dev) {
		if name, _, ok := strings.Cut(line, ":"); ok {
			names = append(names, strings.TrimSpace(name))
		}
	}
	slices.Sort(names)
	return names
}

func networkChecks() []Check {
	sees := func(c *C, n runtime.Network) []string {
		l := c.launch(read("/proc/net/dev"))
		l.Network = n
		return interfaces(c.plain().ok(l))
	}
	// A kernel gives every new network namespace its own tunnel endpoints, all of them down: only they may stand beside the loopback.
	lonely := func(c *C, names []string) {
		for _, n := range names {
			if n != "lo" && !strings.HasPrefix(n, "tunl") && !strings.HasPrefix(n, "sit") && !strings.HasPrefix(n, "ip6") && !strings.HasPrefix(n, "gre") && !strings.HasPrefix(n, "erspan") && !strings.HasPrefix(n, "ip_vti") {
				c.Errorf("the command sees the interface %s", n)
			}
		}
		if !slices.Contains(names, "lo") {
			c.Errorf("the command sees %v", names)
		}
	}
	return []Check{
		check("without a network there is no interface but the loopback", ruleNetwork, func(c *C) {
			lonely(c, sees(c, runtime.Network{Mode: runtime.NetworkNone}))
		}, "network.none"),
		check("the network is the policy's where a launch asks for none", ruleNetwork, func(c *C) {
			d := c.subject.Backend.Describe()
			if p := d.Policy.Network; p != "" && p != runtime.NetworkNone {
				c.Gap("the policy's network is %s", p)
			}
			lonely(c, sees(c, runtime.Network{}))
		}, "network.none"),
		check("the host's network is the host's", ruleNetwork, func(c *C) {
			host, err := os.ReadFile("/proc/net/dev")
			if err != nil {
				c.Gap("this host shows no interfaces: %v", err)
			}
			if got, want := sees(c, runtime.Network{Mode: runtime.NetworkHost}), interfaces(string(host)); !slices.Equal(got, want) {
				c.Errorf("the command sees %v, the host has %v", got, want)
			}
		}, "network.host"),
		check("the plan claims the network it gives", ruleNetwork, func(c *C) {
			p := c.plain().plan(c.launch(say("x")))
			name := "network." + string(p.Request.Network.Mode)
			if !slices.ContainsFunc(p.Claims, func(k runtime.Claim) bool { return k.Name == name }) {
				c.Errorf("the claims do not have %s", name)
			}
		}, "network.none"),
		check("an egress without its socket's path is refused", ruleNetwork, func(c *C) {
			l := c.launch(say("x"))
			l.Network.Mode = runtime.NetworkEgress
			_, err := c.plain().run(l)
			c.refused(err, runtime.Denied, runtime.StepPlan)
		}, "network.egress"),
		check("a network that the policy does not accept is refused", ruleNetwork, func(c *C) {
			d := c.subject.Backend.Describe()
			for _, n := range []runtime.NetworkMode{runtime.NetworkSession, runtime.NetworkPrivate, runtime.NetworkHost} {
				if n == d.Policy.Network || slices.Contains(d.Policy.NetworkAccept, n) {
					continue
				}
				l := c.launch(say("x"))
				l.Network = runtime.Network{Mode: n, Session: "s"}
				_, err := c.plain().run(l)
				c.refused(err, runtime.Denied, runtime.StepPlan)
				return
			}
			c.Gap("the policy accepts every network")
		}),
	}
}
