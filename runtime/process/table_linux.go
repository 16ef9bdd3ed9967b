package process

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// table collects the descriptors a child is started with, and closes our copies of them after the start.
type table struct {
	files []uintptr
	owned []int
	keep  []*os.File // a caller's files, alive until the child has them
	later []*os.File // files of ours that close closes
}

// place puts our descriptor fd under number n; owned says that close closes it.
func (t *table) place(n, fd int, owned bool) error {
	if owned {
		t.owned = append(t.owned, fd)
	}
	for len(t.files) <= n {
		t.files = append(t.files, closedDescriptor)
	}
	if t.files[n] != closedDescriptor {
		return fmt.Errorf("descriptor %d is planned twice", n)
	}
	t.files[n] = uintptr(fd)
	return nil
}

// file hands a caller's own file over.
func (t *table) file(n int, f *os.File) error {
	fd := f.Fd() // also makes it blocking, which is what a child expects of its streams
	if fd == closedDescriptor {
		return fmt.Errorf("descriptor %d: the file %s is closed", n, f.Name())
	}
	t.keep = append(t.keep, f)
	return t.place(n, int(fd), false)
}

// null opens the null device under number n.
func (t *table) null(n int) error {
	fd, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening %s: %w", os.DevNull, err)
	}
	return t.place(n, fd, true)
}

// reader puts the writing end of a new pipe under number n and gives the reading end.
func (t *table) reader(n int, name string) (*os.File, error) {
	p, err := newPipe()
	if err != nil {
		return nil, err
	}
	if err := t.place(n, p[1], true); err != nil {
		unix.Close(p[0])
		return nil, err
	}
	return ourEnd(p[0], name)
}

// writer puts the reading end of a new pipe under number n and gives the writing end.
func (t *table) writer(n int, name string) (*os.File, error) {
	p, err := newPipe()
	if err != nil {
		return nil, err
	}
	if err := t.place(n, p[0], true); err != nil {
		unix.Close(p[1])
		return nil, err
	}
	return ourEnd(p[1], name)
}

// data puts a descriptor from which b can be read, once or by many openings, under number n. No other process can change what it
// reads.
func (t *table) data(n int, name string, b []byte) error {
	fd, err := dataFile(name, b)
	if err != nil {
		return err
	}
	return t.place(n, fd, true)
}

func (t *table) close() {
	for _, fd := range t.owned {
		unix.Close(fd)
	}
	for _, f := range t.later {
		f.Close()
	}
	t.owned, t.keep, t.later = nil, nil, nil
}

func newPipe() ([2]int, error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return p, fmt.Errorf("making a pipe: %w", err)
	}
	return p, nil
}

// ourEnd makes our end of a pipe one the poller waits for; the other end stays blocking.
func ourEnd(fd int, name string) (*os.File, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("preparing the pipe %s: %w", name, err)
	}
	return os.NewFile(uintptr(fd), name), nil
}

// dataFile gives a memory file with content b, sealed so that a reader that opens it again cannot write it (memfd_create(2)).
func dataFile(name string, b []byte) (int, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, fmt.Errorf("making a memory file for %s: %w", name, err)
	}
	// Written by position: the reader shares our offset, and starts at 0.
	for off := 0; off < len(b); {
		n, err := unix.Pwrite(fd, b[off:], int64(off))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			unix.Close(fd)
			return -1, fmt.Errorf("writing %s to a memory file: %w", name, err)
		}
		off += n
	}
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE); err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("sealing the memory file of %s: %w", name, err)
	}
	return fd, nil
}

// stuckPipe makes a pipe whose reader never sees end of file: its reading end is a writing one too (fifo(7): opening a pipe for
// reading and writing succeeds). A program that waits at its gate reads end of file as leave to go on (bubblewrap's --block-fd), so a
// controller that dies must not give it one.
func stuckPipe() (read, write int, err error) {
	p, err := newPipe()
	if err != nil {
		return -1, -1, err
	}
	defer unix.Close(p[0])
	var buf [32]byte
	both, err := unix.Open(string(appendFDPath(buf[:0], p[0])), unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		unix.Close(p[1])
		return -1, -1, fmt.Errorf("making the start gate: %w", err)
	}
	return both, p[1], nil
}
