//go:build linux

package main

import (
	"errors"
	"io"
	"net"
	"time"
)

// runNc connects its standard streams to a socket: nc [-w SECONDS] HOST PORT,
// nc -U PATH, and nc -z to connect only. -l listens for one connection instead.
func runNc(c *call) error {
	flags := newFlags(c)
	unixSocket := flags.BoolP("unix", "U", false, "a unix socket; @NAME is an abstract one")
	listen := flags.BoolP("listen", "l", false, "accept one connection")
	zero := flags.BoolP("zero", "z", false, "connect and close")
	wait := flags.Float64P("wait", "w", 10, "seconds to wait for a connection")
	flags.BoolP("numeric", "n", true, "no names (resolved when given)")
	flags.BoolP("verbose", "v", false, "accepted for habit")
	operands, err := parse(c, flags, 1)
	if err != nil {
		return err
	}
	network, address := "tcp", ""
	switch {
	case *unixSocket && len(operands) == 1:
		network, address = "unix", operands[0]
	case !*unixSocket && len(operands) == 2:
		address = net.JoinHostPort(operands[0], operands[1])
	case !*unixSocket && *listen && len(operands) == 1:
		address = net.JoinHostPort("127.0.0.1", operands[0])
	default:
		return usageError("usage: nc [-z] [-w SECONDS] HOST PORT | nc -U PATH | nc -l [HOST] PORT")
	}
	var conn net.Conn
	if *listen {
		listener, err := net.Listen(network, address)
		if err != nil {
			return err
		}
		conn, err = listener.Accept()
		if err := errors.Join(err, listener.Close()); err != nil {
			return err
		}
	} else if conn, err = net.DialTimeout(network, address, time.Duration(*wait*float64(time.Second))); err != nil {
		return err
	}
	defer conn.Close()
	if *zero {
		return nil
	}
	sent := make(chan error, 1)
	go func() {
		_, err := io.Copy(conn, c.in)
		if half, ok := conn.(interface{ CloseWrite() error }); ok && err == nil {
			err = half.CloseWrite()
		}
		sent <- err
	}()
	// The peer decides when it is over; an input that never ends must not keep
	// this side alive after it.
	if _, err := io.Copy(c.out, conn); err != nil {
		return err
	}
	select {
	case err := <-sent:
		return err
	default:
		return nil
	}
}
