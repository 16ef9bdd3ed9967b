package process

import (
	"context"
	"io"
	"net"
	"strconv"

	"github.com/sbxkit/sbxkit/runtime"
)

// Exec is Unsupported: joining the namespaces of a sandbox takes a process of one thread, which a Go program is not (setns(2)).
func (p *process) Exec(context.Context, []string) (int, error) {
	return -1, runtime.Fail(runtime.Unsupported, "%s cannot run a command beside another one inside", p.b.def.Description.Name).About("ready.exec").
		WithCure("use ready.line or ready.notify")
}

// Dial connects to a TCP port of the command's network.
func (p *process) Dial(ctx context.Context, port int) (io.Closer, error) {
	if p.req.Network.Mode != runtime.NetworkHost {
		return nil, runtime.Fail(runtime.Unsupported, "%s cannot reach a port inside network %s", p.b.def.Description.Name, p.req.Network.Mode).About("ready.port").
			WithCure("use ready.line or ready.notify")
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
}
