package runtime

import (
	"net/netip"
	"path"
	"slices"
)

func (r *resolver) network() error {
	n := r.l.Network
	switch n.Mode {
	case NetworkDefault:
		n.Mode = r.p.Network
		if n.Mode == NetworkDefault {
			n.Mode = NetworkNone
		}
	case NetworkNone, NetworkHost, NetworkPrivate, NetworkEgress, NetworkSession:
		// No network is always a tightening.
		if n.Mode != NetworkNone && n.Mode != r.p.Network && !slices.Contains(r.p.NetworkAccept, n.Mode) {
			return denied("network."+string(n.Mode), "the policy of %s does not accept network %s", r.d.Name, n.Mode).WithCure("add it to policy.network.accept of the spec")
		}
	default:
		return denied("network", "%q is not a kind of network", string(n.Mode))
	}
	r.ask("network." + string(n.Mode))
	for feature, used := range map[string]bool{
		"network.publish": len(n.Publish) > 0, "network.aliases": len(n.Aliases) > 0, "network.hosts": len(n.Hosts) > 0, "network.dns": len(n.DNS) > 0,
	} {
		if !used {
			continue
		}
		r.ask(feature)
		if n.Mode != NetworkPrivate && n.Mode != NetworkSession {
			return denied(feature, "%s needs a private network, and this launch has network %s", feature, n.Mode)
		}
	}
	n.Publish = slices.Clone(n.Publish)
	for i := range n.Publish {
		if err := n.Publish[i].settle(); err != nil {
			return err
		}
	}
	for _, name := range n.Aliases {
		if !hostname.MatchString(name) {
			return denied("network.aliases", "%q is not a host name (letters, digits, dots and hyphens)", name)
		}
	}
	for _, h := range n.Hosts {
		if !hostname.MatchString(h.Name) || !h.Address.IsValid() {
			return denied("network.hosts", "%q at %s is not a host name and an address", h.Name, h.Address)
		}
	}
	for _, server := range n.DNS {
		if !server.IsValid() {
			return denied("network.dns", "a name server has no address")
		}
	}
	if n.Mode == NetworkEgress {
		if !path.IsAbs(n.Socket) {
			return denied("network.egress", "network egress needs the absolute path of the proxy's unix socket")
		}
		// No route leads out but this socket, and the command learns where it is.
		r.ask("mount.socket")
		r.req.Mounts = append(r.req.Mounts, Mount{Kind: MountSocket, Source: n.Socket, Target: EgressTarget, Origin: "network"})
		r.req.Env = append(r.req.Env, Variable{Name: "SBX_EGRESS_SOCKET", Value: EgressTarget, Public: true, Origin: "seam"})
		r.ask("environment")
	}
	r.req.Network = n
	return nil
}

// settle fills in what a published port leaves out: the host's loopback, never all of its addresses, and TCP.
func (p *Port) settle() error {
	if p.Container < 1 || p.Container > 65535 || p.Host < 0 || p.Host > 65535 {
		return denied("network.publish", "port %d:%d is out of range", p.Host, p.Container)
	}
	if p.Address == "" {
		p.Address = "127.0.0.1"
	}
	if _, err := netip.ParseAddr(p.Address); err != nil {
		return denied("network.publish", "%q is not an IP address to publish port %d on", p.Address, p.Container)
	}
	if p.Protocol == "" {
		p.Protocol = "tcp"
	}
	if p.Protocol != "tcp" && p.Protocol != "udp" {
		return denied("network.publish", "port %d cannot be published for %q; use tcp or udp", p.Container, p.Protocol)
	}
	return nil
}
