// Package unseen holds what the rule does not see today. Each is wrong; what the rule comes to see one day gets a want.
package unseen

import (
	"context"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"syscall"

	"later"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// A stream that comes out of a channel of another package.
type fromChannel struct{}

func (fromChannel) Alive(ctx context.Context, v sbx.LivenessView) error {
	w := <-later.Writers
	_, err := w.Write(nil)
	return err
}

func send(run *sbx.Run) { later.Writers <- run.Stdin() }

// Reflection.
type reflected struct{ run *sbx.Run }

func (r *reflected) Alive(ctx context.Context, v sbx.LivenessView) error {
	reflect.ValueOf(r.run).MethodByName("CloseWrite").Call(nil)
	return nil
}

// A descriptor that is computed, or duplicated from 0 earlier.
type computed struct{ fd int }

func (c *computed) Alive(ctx context.Context, v sbx.LivenessView) error {
	fd, _ := strconv.Atoi("0")
	syscall.Write(fd, nil)
	syscall.Write(c.fd, nil)
	return nil
}

func newComputed() (*computed, error) {
	fd, err := syscall.Dup(0)
	return &computed{fd}, err
}

// A function that another module keeps and calls later.
type keptThere struct{}

func (keptThere) Alive(ctx context.Context, v sbx.LivenessView) error { return later.Call() }

func keep() { later.Keep(func() error { return os.Stdin.Close() }) }

// An own type behind an interface of the standard library.
type echo struct{}

func (echo) Write(b []byte) (int, error) { return os.Stdin.Write(b) }

type behind struct{ w io.Writer }

func (b *behind) Alive(ctx context.Context, v sbx.LivenessView) error {
	_, err := fmt.Fprintln(b.w, "alive")
	return err
}

func newBehind() *behind { return &behind{later.Wrap(echo{})} }
