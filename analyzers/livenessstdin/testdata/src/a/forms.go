package a

import (
	"golang.org/x/sys/unix"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

type numbered struct{ fd int }

func (n *numbered) Alive(c ctx, v view) error {
	var b [1]byte
	unix.Read(0, b[:])  // want `→ descriptor 0 \(.*unix.Read\)`
	unix.Write(0, b[:]) // want `→ descriptor 0 \(.*unix.Write\)`
	unix.Close(0)       // want `→ descriptor 0 \(.*unix.Close\)`
	unix.Read(n.fd, b[:])
	unix.Write(1, b[:])
	return nil
}

type hook = sbx.LivenessHook

type viaAlias struct{ s *session }

func (a *viaAlias) Alive(c ctx, v view) error {
	a.s.ping() // want `ping → Run.Stdin`
	return nil
}

func asAlias(s *session) hook { return &viaAlias{s} }
