package attest

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// MissingInterpreter follows what the kernel needs to execute the file at path p below root, and names the first that is not there or cannot be
// executed: the program of a script's first line (execve(2), "Interpreter scripts"), or the loader a binary names (elf(5), PT_INTERP). Empty
// where everything is there, and where the file cannot be read to know. dir is where a relative path begins.
func MissingInterpreter(root int, p, dir string) string {
	// A script's interpreter may be a script again, and its last has a loader. The kernel follows four more (exec_binprm in fs/exec.c).
	for range 6 {
		next := interpreter(root, p)
		if next == "" {
			return ""
		}
		if !path.IsAbs(next) {
			next = path.Join("/", dir, next)
		}
		if Executable(root, next) != nil {
			return next
		}
		p = next
	}
	return ""
}

// interpreter gives what the file names as its interpreter or loader, empty for none. The file may be anything: what is read of it is bounded.
func interpreter(root int, p string) string {
	how := unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(root, p, &how)
	if err != nil {
		return ""
	}
	f := os.NewFile(uintptr(fd), p)
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return ""
	}
	head := make([]byte, 256) // BINPRM_BUF_SIZE: what the kernel itself looks at
	n, err := io.ReadFull(f, head)
	if err != nil && n == 0 {
		return ""
	}
	head = head[:n]
	if line, ok := bytes.CutPrefix(head, []byte("#!")); ok {
		line, _, _ = bytes.Cut(line, []byte("\n"))
		words := bytes.Fields(line)
		if len(words) == 0 {
			return ""
		}
		return string(words[0])
	}
	return loader(f, head)
}

// loader reads PT_INTERP of a binary of this machine's byte order and either word size.
func loader(f io.ReaderAt, head []byte) string {
	if len(head) < 64 || !bytes.HasPrefix(head, []byte("\x7fELF")) {
		return ""
	}
	order := binary.NativeEndian
	wide := head[4] == 2 // ELFCLASS64
	var at, each, count int64
	if wide {
		at, each, count = int64(order.Uint64(head[32:])), int64(order.Uint16(head[54:])), int64(order.Uint16(head[56:]))
	} else {
		at, each, count = int64(order.Uint32(head[28:])), int64(order.Uint16(head[42:])), int64(order.Uint16(head[44:]))
	}
	entry := make([]byte, 56) // of a program header; 32 in the narrow form
	if !wide {
		entry = entry[:32]
	}
	if at <= 0 || each < int64(len(entry)) {
		return ""
	}
	for i := range min(count, 128) {
		if _, err := f.ReadAt(entry, at+i*each); err != nil {
			return ""
		}
		const interp = 3
		if order.Uint32(entry) != interp {
			continue
		}
		var from, size int64
		if wide {
			from, size = int64(order.Uint64(entry[8:])), int64(order.Uint64(entry[32:]))
		} else {
			from, size = int64(order.Uint32(entry[4:])), int64(order.Uint32(entry[16:]))
		}
		if from <= 0 || size <= 1 || size > unix.PathMax {
			return ""
		}
		name := make([]byte, size)
		if _, err := f.ReadAt(name, from); err != nil {
			return ""
		}
		name, _, _ = bytes.Cut(name, []byte{0})
		return string(name)
	}
	return ""
}
