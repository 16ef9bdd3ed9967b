package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sbxkit/sbxkit/runtime"
)

// The suite's own binary is also the program that tries to get out: it is mounted into the sandbox and started there with attemptWord
// and the name of an attempt. It prints "refused", the error and its number, or "ESCAPED" and what it got.
const attemptWord = "sbx-test-attempt"

// attempt is one try, of which nothing may come to the host's harm where it succeeds: it asks for what is so already, opens and does not write,
// or works on /workspace, which no host has. refused are the errors by which it may be refused; none at all means that its own judgement counts.
type attempt struct {
	name    string
	refused []error
	try     func(hint string) error
	// hint makes on the host what the attempt is after, and says where it is.
	hint func(t *testing.T) string
}

var errContained = errors.New("contained")

func sys(nr uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := syscall.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return errno
	}
	return nil
}

func text(s string) uintptr {
	b, _ := syscall.BytePtrFromString(s)
	return uintptr(unsafe.Pointer(b))
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

func ourPid(*testing.T) string { return strconv.Itoa(os.Getpid()) }

var attempts = []attempt{
	{"attach to the controller with ptrace", []error{unix.ESRCH, unix.EPERM}, func(pid string) error { return unix.PtraceAttach(number(pid)) }, ourPid},
	{"signal the controller", []error{unix.ESRCH}, func(pid string) error { return unix.Kill(number(pid), 0) }, ourPid},
	{"see the controller in /proc", []error{unix.ENOENT}, func(pid string) error { _, err := os.Stat("/proc/" + pid + "/root"); return err }, ourPid},
	{"leave by the first process's root", []error{unix.ENOENT}, func(file string) error { _, err := os.Stat("/proc/1/root" + file); return err }, plantedFile},
	{"leave by dot-dot", []error{unix.ENOENT}, func(file string) error { _, err := os.Stat(strings.Repeat("../", 40) + file); return err }, plantedFile},
	{"read a planted file of the host", []error{unix.ENOENT}, func(file string) error { _, err := os.ReadFile(file); return err }, plantedFile},
	{"leave by a symbolic link in the workspace", []error{unix.ENOENT}, func(file string) error {
		link := "/workspace/link"
		if err := os.Symlink(file, link); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("making the link: %v", err)
		}
		_, err := os.ReadFile(link)
		return err
	}, plantedFile},
	{"use a leaked descriptor", []error{unix.EBADF}, func(string) error {
		for fd := 3; fd < 256; fd++ {
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && inherited(fd) {
				return fmt.Errorf("descriptor %d is open%w", fd, errEscaped)
			}
		}
		return unix.EBADF
	}, nil},
	{"connect to the engine's socket", []error{unix.ENOENT}, func(string) error { return dial("unix", "/var/run/docker.sock") }, nil},
	{"connect to a unix socket of the host", []error{unix.ENOENT}, func(path string) error { return dial("unix", path) }, unixListener},
	{"connect to an abstract socket of the host", []error{unix.ECONNREFUSED}, func(name string) error { return dial("unix", name) }, abstractListener},
	{"connect to the host's loopback", []error{unix.ECONNREFUSED, unix.ENETUNREACH, unix.EHOSTUNREACH}, func(addr string) error { return dial("tcp", addr) }, tcpListener},
	{"open a raw socket", []error{unix.EPERM}, func(string) error { _, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP); return err }, nil},
	{"open a packet socket", []error{unix.EPERM}, func(string) error { _, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0); return err }, nil},
	{"gain privileges by a setuid program", nil, func(string) error {
		out, err := exec.Command("/workspace/setuid", attemptWord, "print effective uid").Output()
		if err != nil {
			return fmt.Errorf("%w: %v", errContained, err)
		}
		if strings.TrimSpace(string(out)) != strconv.Itoa(os.Getuid()) {
			return fmt.Errorf("became %s%w", out, errEscaped)
		}
		return errContained
	}, nil},
	{"make a user namespace", []error{unix.ENOSPC, unix.EPERM}, makeUserNamespace, nil},
	{"make a mount namespace", []error{unix.EPERM}, func(string) error { return unix.Unshare(unix.CLONE_NEWNS) }, nil},
	{"join the first process's user namespace", []error{unix.EINVAL, unix.EPERM}, func(string) error { return setns("/proc/1/ns/user", unix.CLONE_NEWUSER) }, nil},
	{"join the first process's mount namespace", []error{unix.EPERM}, func(string) error { return setns("/proc/1/ns/mnt", unix.CLONE_NEWNS) }, nil},
	{"mount a file system", []error{unix.EPERM}, func(string) error { return unix.Mount("none", "/workspace", "tmpfs", 0, "") }, nil},
	{"mount proc", []error{unix.EPERM}, func(string) error { return unix.Mount("proc", "/workspace", "proc", 0, "") }, nil},
	{"mount again with other flags", []error{unix.EPERM}, func(string) error {
		return unix.Mount("", "/workspace", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_NODEV, "")
	}, nil},
	{"unmount the workspace", []error{unix.EPERM}, func(string) error { return unix.Unmount("/workspace", unix.MNT_DETACH) }, nil},
	{"change the root", []error{unix.EPERM}, func(string) error { return unix.Chroot("/tmp") }, nil},
	{"pivot the root", []error{unix.EPERM}, func(string) error { return unix.PivotRoot("/workspace", "/workspace") }, nil},
	{"open a file system context", []error{unix.EPERM}, func(string) error { _, err := unix.Fsopen("tmpfs", 0); return err }, nil},
	{"pick a file system", []error{unix.EPERM}, func(string) error { _, err := unix.Fspick(unix.AT_FDCWD, "/", 0); return err }, nil},
	{"clone a mount tree", []error{unix.EPERM}, func(string) error {
		_, err := unix.OpenTree(unix.AT_FDCWD, "/", unix.OPEN_TREE_CLONE)
		return err
	}, nil},
	{"clone a mount tree by its younger name", []error{unix.EPERM, unix.ENOSYS}, func(string) error { return sys(467, ^uintptr(99), text("/"), 1) }, nil},
	{"move a mount", []error{unix.EPERM}, func(string) error { return unix.MoveMount(unix.AT_FDCWD, "/workspace", unix.AT_FDCWD, "/workspace", 0) }, nil},
	{"change a mount's attributes", []error{unix.EPERM}, func(string) error {
		return unix.MountSetattr(unix.AT_FDCWD, "/workspace", 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NODEV})
	}, nil},
	{"read the keyring", []error{unix.EPERM}, func(string) error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, true); return err }, nil},
	{"add a key", []error{unix.EPERM}, func(string) error {
		_, err := unix.AddKey("user", "sbx", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
		return err
	}, nil},
	{"request a key", []error{unix.EPERM}, func(string) error { return sys(unix.SYS_REQUEST_KEY, text("user"), text("sbx"), 0, 0) }, nil}, // with no program to make it
	{"load a BPF program", []error{unix.EPERM}, func(string) error { return sys(unix.SYS_BPF, 0) }, nil},
	{"open performance events", []error{unix.EPERM}, func(string) error { return sys(unix.SYS_PERF_EVENT_OPEN, 0) }, nil},
	{"handle page faults", []error{unix.EPERM}, func(string) error { return sys(unix.SYS_USERFAULTFD, 0) }, nil},
	{"set up io_uring", []error{unix.EPERM}, func(string) error { return sys(unix.SYS_IO_URING_SETUP, 1, 0) }, nil},
	{"type into a terminal", []error{unix.EPERM}, func(string) error { return typeInto(unix.TIOCSTI) }, nil},
	{"type into a terminal with high bits set", []error{unix.EPERM}, func(string) error { return typeInto(unix.TIOCSTI | 1<<32) }, nil},
	{"paste into a console", []error{unix.EPERM}, func(string) error { return typeInto(unix.TIOCLINUX) }, nil},
	{"make a denied call as a 32-bit program", nil, func(string) error {
		if goruntime.GOARCH != "amd64" {
			return errContained
		}
		name := "/workspace/elf32"
		if err := os.WriteFile(name, keyctl32, 0o755); err != nil {
			return fmt.Errorf("writing it: %v%w", err, errEscaped)
		}
		err := exec.Command(name).Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() != int(unix.EPERM) {
			return fmt.Errorf("the call gave %d%w", exit.ExitCode(), errEscaped)
		}
		if err == nil {
			return errEscaped
		}
		return fmt.Errorf("%w: %v", errContained, err) // EPERM, or this kernel runs no such program
	}, nil},
	{"make a system call by its x32 number", []error{unix.ENOSYS}, func(string) error { return sys(0x40000000 | 39) }, nil},
	{"write below /usr", []error{unix.EROFS}, func(string) error { return unnamed("/usr") }, nil},
	{"write into the root", []error{unix.EROFS}, func(string) error { return unnamed("/") }, nil},
	{"write below /sys", []error{unix.ENOENT}, func(string) error { return os.WriteFile("/sys/kernel/sbx", nil, 0o600) }, nil},
	{"write a kernel setting", []error{unix.EACCES, unix.EROFS, unix.EPERM}, func(string) error {
		// Opening is the whole check: a real write would be the host's loss.
		for _, name := range []string{"kernel/core_pattern", "kernel/modprobe", "vm/drop_caches", "fs/suid_dumpable"} {
			f, err := os.OpenFile("/proc/sys/"+name, os.O_WRONLY, 0)
			if err == nil {
				f.Close()
				return fmt.Errorf("%s can be written%w", name, errEscaped)
			}
			if !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.EROFS) && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOENT) {
				return err
			}
		}
		return unix.EROFS
	}, nil},
	{"trigger a kernel request", []error{unix.EACCES, unix.EROFS, unix.EPERM, unix.ENOENT}, func(string) error {
		f, err := os.OpenFile("/proc/sysrq-trigger", os.O_WRONLY, 0)
		if err == nil {
			f.Close()
		}
		return err
	}, nil},
	{"read kernel memory", []error{unix.ENOENT, unix.EACCES, unix.EPERM}, func(string) error { _, err := os.Open("/dev/mem"); return err }, nil},
	{"read the kernel's log", []error{unix.ENOENT, unix.EACCES, unix.EPERM}, func(string) error { _, err := os.Open("/dev/kmsg"); return err }, nil},
	{"make a device", []error{unix.EPERM}, func(string) error { return unix.Mknod("/workspace/device", unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))) }, nil},
	{"set the host's name", []error{unix.EPERM}, func(string) error {
		name, err := os.Hostname()
		if err != nil {
			return err
		}
		return unix.Sethostname([]byte(name))
	}, nil},
	{"set the clock", []error{unix.EPERM}, func(string) error {
		var now unix.Timex
		if _, err := unix.Adjtimex(&now); err != nil {
			return fmt.Errorf("reading it: %v%w", err, errEscaped)
		}
		now.Modes = unix.ADJ_TICK // to what it is
		_, err := unix.Adjtimex(&now)
		return err
	}, nil},
	{"restart the machine", []error{unix.EPERM}, func(string) error { return sys(unix.SYS_REBOOT, 0, 0, 0, 0) }, nil}, // EINVAL where it is allowed: there is no such request
	{"load a kernel module", []error{unix.EPERM, unix.ENOSYS}, func(string) error { return unix.InitModule([]byte{0}, "") }, nil},
	{"swap onto a file", []error{unix.EPERM}, func(string) error { return sys(unix.SYS_SWAPON, text("/workspace/swap"), 0) }, nil},
	{"account processes", []error{unix.EPERM}, func(string) error { return unix.Acct("/workspace/acct") }, nil},
	{"take capabilities back", []error{unix.EPERM}, func(string) error {
		h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		d := [2]unix.CapUserData{{Effective: 1 << 21, Permitted: 1 << 21}}
		return unix.Capset(&h, &d[0])
	}, nil},
	{"take new privileges back", []error{unix.EINVAL}, func(string) error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) }, nil},
	{"raise a limit", []error{unix.EPERM}, func(string) error {
		return unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 100_000, Max: 100_000})
	}, nil},
	{"attach to a shared memory segment of the host", []error{unix.ENOENT}, func(key string) error { return sys(unix.SYS_SHMGET, uintptr(number(key)), 0, 0) }, sharedMemory},
	{"read secrets of the launcher", nil, func(string) error {
		b, err := os.ReadFile("/proc/1/environ")
		if err != nil {
			return fmt.Errorf("%w: %v", errContained, err)
		}
		if len(b) > 0 {
			return fmt.Errorf("%d bytes%w", len(b), errEscaped)
		}
		return errContained
	}, nil},
	{"leave the cgroup", []error{unix.ENOENT}, func(string) error { return os.WriteFile("/sys/fs/cgroup/cgroup.procs", []byte("0"), 0) }, nil},
}

// keyctl32 is a program of the i386 architecture that calls keyctl and exits with the error's number.
var keyctl32 = func() []byte {
	code := []byte{
		0xb8, 0x20, 0x01, 0x00, 0x00, // mov eax, 288: keyctl
		0x31, 0xdb, 0x31, 0xc9, 0x31, 0xd2, // xor ebx, ebx; xor ecx, ecx; xor edx, edx
		0xcd, 0x80, // int 0x80
		0xf7, 0xd8, 0x89, 0xc3, // neg eax; mov ebx, eax
		0xb8, 0x01, 0x00, 0x00, 0x00, 0xcd, 0x80, // mov eax, 1: exit; int 0x80
	}
	const base, head = 0x08048000, 52 + 32
	le := binary.LittleEndian
	b := append([]byte("\x7fELF\x01\x01\x01"), make([]byte, 9)...)
	b = le.AppendUint16(b, 2) // ET_EXEC
	b = le.AppendUint16(b, 3) // EM_386
	for _, v := range []uint32{1, base + head, 52, 0, 0} {
		b = le.AppendUint32(b, v)
	}
	for _, v := range []uint16{52, 32, 1, 0, 0, 0} {
		b = le.AppendUint16(b, v)
	}
	size := uint32(head + len(code))
	for _, v := range []uint32{1, 0, base, base, size, size, 5, 0x1000} { // PT_LOAD, readable and executable
		b = le.AppendUint32(b, v)
	}
	return append(b, code...)
}()

var errEscaped = errors.New("")

// inherited reports whether a descriptor came from outside: Go's own poller opens a few after the start.
func inherited(fd int) bool {
	target, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	return err != nil || !strings.HasPrefix(target, "anon_inode:") && !strings.HasPrefix(target, "/proc/")
}

func dial(network, address string) error {
	c, err := net.Dial(network, address)
	if err == nil {
		c.Close()
	}
	return err
}

// unnamed makes a file without a name, which is gone when it is closed (open(2), O_TMPFILE).
func unnamed(dir string) error {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR, 0o600)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func setns(path string, kind int) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Setns(int(f.Fd()), kind)
}

// makeUserNamespace starts a process in a new one: a program of many threads cannot move into one itself.
func makeUserNamespace(string) error {
	cmd := exec.Command("/usr/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
	return cmd.Run()
}

func typeInto(request uint64) error {
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	b := byte('x')
	return sys(unix.SYS_IOCTL, f.Fd(), uintptr(request), uintptr(unsafe.Pointer(&b)))
}

func plantedFile(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "planted")
	if err := os.WriteFile(name, []byte("secret of the host"), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func unixListener(t *testing.T) string {
	dir, err := os.MkdirTemp("", "s") // a socket's path has room for about a hundred bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return listener(t, "unix", filepath.Join(dir, "s"))
}

func abstractListener(t *testing.T) string {
	return listener(t, "unix", "@sbx-test-"+strconv.Itoa(os.Getpid()))
}

func tcpListener(t *testing.T) string { return listener(t, "tcp", "127.0.0.1:0") }

func listener(t *testing.T, network, address string) string {
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if err := dial(network, l.Addr().String()); err != nil {
		t.Fatalf("not even the host reaches it: %v", err)
	}
	return l.Addr().String()
}

func sharedMemory(t *testing.T) string {
	key := 0x5b5b0000 + os.Getpid()
	id, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|0o666)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := unix.SysvShmCtl(id, unix.IPC_RMID, nil); err != nil {
			t.Error(err)
		}
	})
	return strconv.Itoa(key)
}

// tryAttempt is what the binary does inside.
func tryAttempt(name, hint string) {
	if name == "print effective uid" {
		fmt.Println(os.Geteuid())
		return
	}
	if name == "listen" {
		if _, err := net.Listen("tcp", ":7654"); err != nil {
			panic(err)
		}
		fmt.Println("listening")
		io.Copy(io.Discard, os.Stdin)
		return
	}
	i := slices.IndexFunc(attempts, func(a attempt) bool { return a.name == name })
	if i < 0 {
		fmt.Printf("there is no attempt %q\n", name)
		os.Exit(2)
	}
	err := attempts[i].try(hint)
	var errno syscall.Errno
	switch {
	case err == nil || errors.Is(err, errEscaped):
		fmt.Printf("ESCAPED %v\n", err)
	case errors.As(err, &errno):
		fmt.Printf("refused %d %v\n", int(errno), err)
	default:
		fmt.Printf("refused 0 %v\n", err)
	}
}

// TestEscapeAttemptsAreRefused runs every attempt inside a sandbox with all that the room offers, and sees by which error it is refused.
func TestEscapeAttemptsAreRefused(t *testing.T) {
	b := backend(t, bwrapDefinition())
	work := t.TempDir()
	if err := errorsOf(os.Chmod(work, 0o777), copyFile(os.Args[0], filepath.Join(work, "attempt")), copyFile(os.Args[0], filepath.Join(work, "setuid")),
		os.Chmod(filepath.Join(work, "setuid"), 0o755|os.ModeSetuid)); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := errorsOf(os.Chown(filepath.Join(work, "setuid"), ordinary, ordinary), os.Chmod(filepath.Join(work, "setuid"), 0o755|os.ModeSetuid)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SBX_TEST_CANARY", "canary")
	for _, a := range attempts {
		t.Run(a.name, func(t *testing.T) {
			hint := ""
			if a.hint != nil {
				hint = a.hint(t)
			}
			l := runtime.Launch{
				Argv: []string{"/workspace/attempt", attemptWord, a.name, hint}, Workspace: &runtime.Workspace{Source: work},
				Hardening: runtime.Hardening{Seccomp: filterStrict, UserNamespaceOff: true, ReadOnlyRoot: true},
				Limits:    runtime.Limits{OpenFiles: runtime.AtMost(1000)},
				// With the race detector each attempt would wait a second before it ends.
				Env: runtime.Environment{Set: map[string]string{"GORACE": "atexit_sleep_ms=0"}},
			}
			r := begin(t, b, l)
			e := r.wait(t)
			got := strings.TrimSpace(r.stdout.String())
			verdict, rest, _ := strings.Cut(got, " ")
			n, _, _ := strings.Cut(rest, " ")
			if e.Code != 0 || verdict != "refused" {
				t.Fatalf("%s (exit %+v, stderr %s)", got, e, r.stderr)
			}
			if len(a.refused) == 0 {
				return
			}
			if !slices.ContainsFunc(a.refused, func(want error) bool { return strconv.Itoa(int(want.(syscall.Errno))) == n }) {
				t.Errorf("%s; want one of %v", got, a.refused)
			}
		})
	}
}
