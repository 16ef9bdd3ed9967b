package conformance

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/sbxtest"
	"github.com/sbxkit/sbxkit/runtime/script"
)

// model is the file system that a fake's command sees, as its request has it: what was mounted is there, in the order of the plan, and
// nothing else. Its /proc is written from the request too.
type model struct {
	request *runtime.Request
	memory  map[string]string // what was written where no host stands behind
}

func newModel(r *runtime.Request) *model { return &model{request: r, memory: map[string]string{}} }

func (m *model) absolute(p string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(m.request.Dir, p)
}

// write writes to a file and says whether it could.
func (m *model) write(a sbxtest.Act) script.Action {
	return script.Func(func(c *script.Command) error {
		said := "written"
		if err := m.put(m.absolute(a.Path), a.Text); err != nil {
			said = "refused"
		}
		_, err := fmt.Fprintln(c.Stdout(), said)
		return err
	})
}

// read shows a file, or says that it is absent.
func (m *model) read(a sbxtest.Act) script.Action {
	return script.Func(func(c *script.Command) error {
		text, err := m.get(m.absolute(a.Path))
		if err != nil {
			text = "absent\n"
		}
		_, err = io.WriteString(c.Stdout(), text)
		return err
	})
}

// over finds the mount a path stands on: the last of the plan's that holds it, and what of the path is below it.
func (m *model) over(p string) (mount *runtime.Mount, rest string) {
	for i := range m.request.Mounts {
		t := m.request.Mounts[i].Target
		if below, ok := strings.CutPrefix(p, strings.TrimSuffix(t, "/")); ok && (below == "" || below[0] == '/') {
			mount, rest = &m.request.Mounts[i], below
		}
	}
	return mount, rest
}

func (m *model) get(p string) (string, error) {
	if text, ok := m.kernel(p); ok {
		return text, nil
	}
	for _, g := range m.request.Credentials {
		if g.File == p {
			return string(g.Value), nil
		}
	}
	if text, ok := m.memory[p]; ok {
		return text, nil
	}
	on, rest := m.over(p)
	if on == nil {
		return "", fs.ErrNotExist
	}
	switch on.Kind {
	case runtime.MountBindRO, runtime.MountBindRW:
		b, err := os.ReadFile(filepath.Join(on.Source, rest))
		return string(b), err
	case runtime.MountFile:
		return string(on.Data), nil
	case runtime.MountMaskFile:
		return "", nil
	case runtime.MountSymlink:
		return m.get(on.Source + rest)
	}
	return "", fs.ErrNotExist
}

func (m *model) put(p, text string) error {
	on, rest := m.over(p)
	switch {
	case on == nil:
		if m.request.Hardening.ReadOnlyRoot {
			return fs.ErrPermission
		}
	case on.Kind == runtime.MountBindRW:
		return os.WriteFile(filepath.Join(on.Source, rest), []byte(text), 0o644)
	case on.Kind != runtime.MountTmpfs && on.Kind != runtime.MountVolume:
		return fs.ErrPermission
	}
	m.memory[p] = text
	return nil
}

// modelledLimits are the lines of /proc/self/limits (proc_pid_limits(5)).
var modelledLimits = []struct{ name, shown string }{
	{"limits.cpu-time", "Max cpu time"}, {"limits.file-size", "Max file size"}, {"limits.stack", "Max stack size"},
	{"limits.core", "Max core file size"}, {"limits.user-processes", "Max processes"}, {"limits.open-files", "Max open files"},
	{"limits.locked-memory", "Max locked memory"}, {"limits.pending-signals", "Max pending signals"},
	{"limits.message-queue", "Max msgqueue size"},
}

// kernel gives the files of /proc that a request settles.
func (m *model) kernel(p string) (string, bool) {
	r := m.request
	switch p {
	case "/proc/net/dev":
		if r.Network.Mode == runtime.NetworkHost {
			host, err := os.ReadFile(p)
			return string(host), err == nil
		}
		return "Inter-|   Receive\n face |bytes\n    lo: 0\n", true
	case "/proc/self/status":
		caps, bit := "000001ffffffffff", map[bool]int{true: 1}
		if r.Hardening.Capabilities {
			caps = "0000000000000000"
		}
		return fmt.Sprintf("Pid:\t1\nCapPrm:\t%s\nCapEff:\t%s\nCapBnd:\t%s\nNoNewPrivs:\t%d\nSeccomp:\t%d\n", caps, caps, caps,
			bit[r.Hardening.NoNewPrivileges], 2*bit[r.Hardening.Seccomp != ""]), true
	case "/proc/self/limits":
		var b strings.Builder
		for _, l := range modelledLimits {
			soft, hard := "unlimited", "unlimited"
			if v := r.Limits.Get(l.name); v != nil {
				soft, hard = fmt.Sprint(v.Soft), fmt.Sprint(v.Hard)
			}
			fmt.Fprintf(&b, "%-25s %-20s %-20s\n", l.shown, soft, hard)
		}
		return b.String(), true
	}
	return "", false
}

// reply answers each line of stdin.
func reply(c *script.Command) error {
	in := bufio.NewReader(c.Stdin())
	for {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := io.WriteString(c.Stdout(), "re:"+line); err != nil {
			return err
		}
	}
}
