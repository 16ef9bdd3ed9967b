package process

import (
	"encoding/binary"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// The filters a policy can name (hardening.seccomp). They deny and otherwise allow: what a command may do is bounded by its namespaces,
// and what is denied here is what reaches past them or has reached past them before.
const (
	// filterDefault denies typing into terminals, kernel keyrings, BPF, userfaultfd, performance events and the descriptor-based mount calls.
	filterDefault = "default"
	// filterStrict denies io_uring as well, whose operations pass no filter.
	filterStrict = "strict"
)

// denied are the system calls of the default filter. An architecture that has not got one of them has nothing to deny.
var denied = []string{
	// Keyrings are not in any namespace (keyrings(7)).
	"add_key", "keyctl", "request_key",
	"bpf", "perf_event_open", "userfaultfd",
	// The descriptor-based mount calls: what a filter that knows mount(2) does not see.
	"fsconfig", "fsmount", "fsopen", "fspick", "mount_setattr", "move_mount", "open_tree",
}

// numbered are denied calls younger than the library's tables, with their number, which is the same on every architecture (since Linux 5.1).
var numbered = []uint32{467} // open_tree_attr, Linux 6.15

var ioUring = []string{"io_uring_enter", "io_uring_register", "io_uring_setup"}

// deniedRequests are denied to ioctl by the low 32 bits of the request: the kernel looks at no more (CVE-2019-10063).
var deniedRequests = []uint32{
	unix.TIOCSTI,
	unix.TIOCLINUX, // pastes the selection into a console
}

// filter gives the program of a named filter, as the kernel takes it: struct sock_filter, 8 bytes an instruction.
func filter(name string) ([]byte, error) {
	compiled := filters()
	if b, ok := compiled.programs[name]; ok {
		return b, nil
	}
	if compiled.err != nil {
		return nil, compiled.err
	}
	return nil, fmt.Errorf("there is no seccomp filter %q; there are %q and %q", name, filterDefault, filterStrict)
}

type filterSet struct {
	programs map[string][]byte
	err      error
}

// filters compiles both, once.
var filters = sync.OnceValue(func() filterSet {
	set := filterSet{programs: map[string][]byte{}}
	for name, calls := range map[string][]string{filterDefault: denied, filterStrict: slices.Concat(denied, ioUring)} {
		p, err := program(calls)
		if err != nil {
			return filterSet{err: err}
		}
		set.programs[name] = p
	}
	return set
})

// program composes a filter for this machine's architecture and the 32-bit one that its kernel also runs. Any other is denied whole: a
// filter that looks at one architecture's numbers only is passed by with another's.
func program(calls []string) ([]byte, error) {
	native, err := arch.GetInfo("")
	if err != nil {
		return nil, fmt.Errorf("building the seccomp filter: %w", err)
	}
	known := []*arch.Info{native}
	switch goruntime.GOARCH {
	case "amd64":
		known = append(known, arch.I386)
	case "arm64":
		known = append(known, arch.ARM)
	}
	code := []bpf.Instruction{bpf.LoadAbsolute{Off: 4, Size: 4}} // seccomp_data.arch
	for _, a := range known {
		section, err := section(a, calls)
		if err != nil {
			return nil, fmt.Errorf("building the seccomp filter for %s: %w", a.Name, err)
		}
		code = append(code, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(a.ID), SkipTrue: 1}, bpf.Jump{Skip: uint32(len(section))})
		code = append(code, section...)
	}
	code = append(code, refuse(unix.ENOSYS))
	raw, err := bpf.Assemble(code)
	if err != nil {
		return nil, fmt.Errorf("building the seccomp filter: %w", err)
	}
	out := make([]byte, 0, 8*len(raw))
	for _, i := range raw {
		out = binary.NativeEndian.AppendUint16(out, i.Op)
		out = append(out, i.Jt, i.Jf)
		out = binary.NativeEndian.AppendUint32(out, i.K)
	}
	return out, nil
}

func refuse(errno unix.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: uint32(seccomp.ActionErrno) | uint32(errno)}
}

// section is the part of a filter for one architecture. It ends every path with a verdict.
func section(a *arch.Info, calls []string) ([]bpf.Instruction, error) {
	var numbers []uint32
	for _, c := range calls {
		if n, ok := a.SyscallNames[c]; ok {
			numbers = append(numbers, uint32(n))
		}
	}
	numbers = append(numbers, numbered...)
	ioctl, ok := a.SyscallNames["ioctl"]
	if !ok {
		return nil, fmt.Errorf("no number of ioctl is known")
	}
	code := []bpf.Instruction{bpf.LoadAbsolute{Off: 0, Size: 4}} // seccomp_data.nr
	if a == arch.X86_64 {
		// The x32 numbers are another way to the same calls.
		code = append(code, bpf.JumpIf{Cond: bpf.JumpGreaterOrEqual, Val: uint32(arch.X32.SeccompMask), SkipFalse: 1}, refuse(unix.ENOSYS))
	}
	for _, n := range numbers {
		code = append(code, bpf.JumpIf{Cond: bpf.JumpEqual, Val: n, SkipFalse: 1}, refuse(unix.EPERM))
	}
	code = append(code,
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(ioctl), SkipTrue: uint8(1 + 2*len(deniedRequests))},
		bpf.LoadAbsolute{Off: lowHalfOfSecondArgument, Size: 4})
	for _, r := range deniedRequests {
		code = append(code, bpf.JumpIf{Cond: bpf.JumpEqual, Val: r, SkipFalse: 1}, refuse(unix.EPERM))
	}
	return append(code, bpf.RetConstant{Val: uint32(seccomp.ActionAllow)}), nil
}

// lowHalfOfSecondArgument is where the low 32 bits of seccomp_data.args[1] stand: the arguments begin at 16, 8 bytes each.
var lowHalfOfSecondArgument = func() uint32 {
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return 24
	}
	return 28
}()
