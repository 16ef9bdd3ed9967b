package attest

import (
	"bytes"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// fallbackDevices are made by the kernel's own tunnel modules in every new network namespace (net.core.fb_tunnels_only_for_init_net). They
// are down, lead nowhere, and nobody without CAP_NET_ADMIN there can change that.
var fallbackDevices = []string{"tunl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "sit0", "ip6tnl0", "ip6gre0"}

// network holds where the process has a network namespace of its own that has nothing but loopback.
func (s *Subject) network(runtime.Claim) verdict {
	other, theirs, err := OwnNamespace(s.pid, "net")
	if err != nil {
		return unknown(err)
	}
	if !other {
		return broken("ns/net: %s, which is ours", theirs)
	}
	var buf [8192]byte
	b, err := ReadFile(s.base+"/net/dev", buf[:])
	if err != nil {
		return unknown(err)
	}
	var devices, strange []string
	for line := range bytes.Lines(b) {
		name, _, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			continue // the two lines of headings
		}
		n := strings.TrimSpace(string(name))
		devices = append(devices, n)
		if n != "lo" && !slices.Contains(fallbackDevices, n) {
			strange = append(strange, n)
		}
	}
	if len(strange) > 0 {
		return broken("ns/net: %s; net/dev: %s", theirs, strings.Join(devices, " "))
	}
	if len(devices) == 0 {
		return broken("net/dev: no device at all, not even loopback")
	}
	return holds("ns/net: %s; net/dev: %s", theirs, strings.Join(devices, " "))
}
