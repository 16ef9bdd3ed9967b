package mounts_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/sys/mountinfo"

	"github.com/sbxkit/sbxkit/internal/testhost"
	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/mounts"
	"github.com/sbxkit/sbxkit/runtime/mounts/mountstest"
)

// real carries plans out on the host's bubblewrap.
type real struct {
	bwrap, look string
}

func newReal(t *testing.T) real {
	t.Helper()
	testhost.Bwrap(t)
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	look := filepath.Join(t.TempDir(), "look")
	build := exec.Command("go", "build", "-o", look, "./testdata/look")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the command inside: %v\n%s", err, out)
	}
	return real{bwrap, look}
}

// lookAt is where the command inside stands; hosts of these tests have such a file, so that it can be bound below a read-only root too.
const lookAt = "/.look"

// words spells operations as bubblewrap takes them, with the sources below dir. Data goes by descriptors, given in order.
func words(ops []runtime.Mount, dir string) (list []string, data []*os.File, err error) {
	for _, m := range ops {
		source := filepath.Join(dir, m.Source)
		switch m.Kind {
		case runtime.MountBindRO:
			list = append(list, "--ro-bind", source, m.Target)
		case runtime.MountBindRW:
			list = append(list, "--bind", source, m.Target)
		case runtime.MountTmpfs, runtime.MountMaskDir:
			list = append(list, "--tmpfs", m.Target)
		case runtime.MountMaskFile:
			list = append(list, "--ro-bind", "/dev/null", m.Target)
		case runtime.MountSymlink:
			list = append(list, "--symlink", m.Source, m.Target)
		case runtime.MountProc:
			list = append(list, "--proc", m.Target)
		case runtime.MountDev:
			list = append(list, "--dev", m.Target)
		case runtime.MountFile:
			r, w, err := os.Pipe()
			if err != nil {
				return nil, data, err
			}
			data = append(data, r)
			if _, err := w.Write(m.Data); err != nil {
				return nil, data, err
			}
			if err := w.Close(); err != nil {
				return nil, data, err
			}
			list = append(list, "--ro-bind-data", fmt.Sprint(m.Descriptor), m.Target)
		default:
			return nil, data, fmt.Errorf("no word for %s", m.Kind)
		}
	}
	return list, data, nil
}

// firstData follows the descriptors that run itself uses: 3 for the words, 4 for the status.
const firstData = 5

// run carries a plan out with the host built below dir; it gives what look says of each path and the mounts as the kernel has them.
func (r real) run(t testing.TB, ops []runtime.Mount, dir string, paths []string) (answers []string, table []*mountinfo.Info, err error) {
	list, data, err := words(ops, dir)
	if err != nil {
		t.Fatal(err)
	}
	list = append(list, "--ro-bind", r.look, lookAt)
	args, argsIn, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	statusOut, status, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer statusOut.Close()
	go func() {
		defer argsIn.Close()
		io.WriteString(argsIn, strings.Join(list, "\x00")+"\x00")
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, r.bwrap, "--args", "3", "--json-status-fd", "4", "--unshare-pid", "--die-with-parent", "--", lookAt)
	cmd.Env = []string{}
	cmd.ExtraFiles = append([]*os.File{args, status}, data...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range cmd.ExtraFiles {
		f.Close()
	}
	answersOf := bufio.NewReader(out)
	ask := func(p string) (string, error) {
		if _, err := io.WriteString(in, p+"\x00"); err != nil {
			return "", err
		}
		a, err := answersOf.ReadString(0)
		return strings.TrimSuffix(a, "\x00"), err
	}
	for _, p := range paths {
		a, aerr := ask(p)
		if aerr != nil {
			err = aerr
			break
		}
		answers = append(answers, a)
	}
	if err == nil {
		var first struct {
			Child int `json:"child-pid"`
		}
		if err = json.NewDecoder(statusOut).Decode(&first); err == nil {
			table, err = mountsOf(first.Child)
		}
	}
	in.Close()
	if werr := cmd.Wait(); werr != nil {
		return nil, nil, fmt.Errorf("%w: %s", werr, stderr.String())
	}
	return answers, table, err
}

// mountsOf reads the mounts that a process sees.
func mountsOf(pid int) ([]*mountinfo.Info, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mountinfo", pid))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return mountinfo.GetMountsFromReader(f, nil)
}

// expect is what look must say of what the model shows.
func expect(host *mountstest.FS, w *mountstest.World, ops []runtime.Mount, p string) string {
	seen, err := w.Look(p)
	if err != nil || !seen.Exists {
		return "nothing"
	}
	if seen.Mode.IsDir() {
		return "directory"
	}
	switch {
	case seen.Op >= 0 && ops[seen.Op].Kind == runtime.MountMaskFile:
		return "special"
	case seen.Op >= 0 && ops[seen.Op].Kind == runtime.MountFile:
		return "file " + string(ops[seen.Op].Data)
	}
	content, err := host.ReadFile(seen.Host)
	if err != nil {
		return err.Error()
	}
	return "file " + string(content)
}

// check carries a plan out and compares what is visible with the model and the kernel's own record of mounts with the plan.
func (r real) check(t testing.TB, host *mountstest.FS, res *mounts.Result, paths []string) {
	t.Helper()
	dir := t.TempDir()
	if err := host.Build(dir); err != nil {
		t.Fatal(err)
	}
	w := perform(t, host, res.Mounts)
	for _, m := range res.Mounts {
		paths = append(paths, m.Target)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool {
		seen, err := w.Look(p)
		// What a new proc and dev hold is the kernel's and the tool's to say.
		return p == "/" || p == lookAt || err == nil && (strings.HasPrefix(seen.Path, "/dev/") || strings.HasPrefix(seen.Path, "/proc/"))
	})
	answers, table, err := r.run(t, res.Mounts, dir, paths)
	if err != nil {
		t.Fatalf("%v\nplan:\n%s", err, lines(res.Mounts))
	}
	for i, p := range paths {
		if want := expect(host, w, res.Mounts, p); answers[i] != want {
			t.Errorf("%q: inside stands %q, want %q\nplan:\n%s", p, answers[i], want, lines(res.Mounts))
		}
	}
	mounted := map[string]*mountinfo.Info{}
	for _, m := range table {
		mounted[m.Mountpoint] = m
	}
	for _, m := range res.Mounts {
		if m.Kind == runtime.MountSymlink {
			continue
		}
		info := mounted[m.Target]
		if info == nil {
			t.Errorf("%s at %q is not in mountinfo", m.Kind, m.Target)
			continue
		}
		readOnly := slices.Contains(strings.Split(info.Options, ","), "ro")
		if wantRO := m.Kind == runtime.MountBindRO || m.Kind == runtime.MountMaskFile || m.Kind == runtime.MountFile; readOnly != wantRO {
			t.Errorf("%s at %q has the options %s", m.Kind, m.Target, info.Options)
		}
		delete(mounted, m.Target)
	}
	delete(mounted, "/")
	delete(mounted, lookAt)
	for p := range mounted {
		// bubblewrap's own devices, and its covers over parts of proc.
		if !strings.HasPrefix(p, "/dev/") && !strings.HasPrefix(p, "/proc/") {
			t.Errorf("%q is mounted and not planned", p)
		}
	}
}

func TestLayoutsOnRealBwrap(t *testing.T) {
	r := newReal(t)
	for _, l := range mountstest.Layouts() {
		t.Run(l.Name, func(t *testing.T) {
			l.Host.File(lookAt, "")
			res, err := mounts.Plan(mounts.Input{Mounts: l.Mounts, Host: l.Host})
			if err != nil {
				t.Fatal(err)
			}
			var paths []string
			for p := range l.Shows {
				paths = append(paths, p)
			}
			for p := range l.Links {
				paths = append(paths, p)
			}
			r.check(t, l.Host, res, paths)
		})
	}
}

func TestRandomScenesOnRealBwrap(t *testing.T) {
	r := newReal(t)
	generator := scenes(true)
	planned := 0
	for seed := 0; planned < 60 && seed < 400; seed++ {
		s := generator.Example(seed)
		s.host.File(lookAt, "")
		res, err := mounts.Plan(mounts.Input{Mounts: s.mounts, Host: s.host, Tool: mounts.Tool{FirstDescriptor: firstData}})
		if err != nil {
			continue
		}
		planned++
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			var paths []string
			for _, p := range s.host.Paths() {
				for _, m := range s.mounts {
					paths = append(paths, path.Join(m.Target, p))
				}
				paths = append(paths, p)
			}
			r.check(t, s.host, res, paths)
		})
	}
	if planned < 60 {
		t.Errorf("only %d scenes could be planned", planned)
	}
}

func TestAnyNameOnRealBwrap(t *testing.T) {
	r := newReal(t)
	names := map[string]string{
		"space": "a b ", "line break": "a\nb", "tab and backslash": "a\tb\\040", "not UTF-8": "\xff\xfe", "leading dash": "--bind", "quotes": `"'$(x)`,
		"a link's arrow": "a -> b", "percent": "%s%n", "dots": "...", "255 bytes": strings.Repeat("n", 255),
	}
	for name, part := range names {
		t.Run(name, func(t *testing.T) {
			host := mountstest.New()
			host.Dir("/" + part)
			host.File("/"+part+"/"+part, "content")
			host.Link("/link", part)
			host.File(lookAt, "")
			target := "/t/" + part
			res, err := mounts.Plan(mounts.Input{Host: host, Tool: mounts.Tool{FirstDescriptor: firstData}, Mounts: []runtime.Mount{
				rw("/link", target), ro("/"+part+"/"+part, target+"/"+part),
				{Kind: runtime.MountFile, Target: "/f/" + part, Data: []byte("data")}, link(part, "/l/"+part),
				at(runtime.MountTmpfs, "/tmp/"+part),
			}})
			if err != nil {
				t.Fatal(err)
			}
			r.check(t, host, res, []string{target + "/" + part})
		})
	}
}

// TestALaterAncestorHidesOnRealBwrap pins the tool's own behaviour that the order rests on.
func TestALaterAncestorHidesOnRealBwrap(t *testing.T) {
	r := newReal(t)
	dir := t.TempDir()
	for _, d := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, d), []byte(d), fs.FileMode(0o644)); err != nil {
			t.Fatal(err)
		}
	}
	answers, _, err := r.run(t, []runtime.Mount{ro("/a", "/x/a"), at(runtime.MountTmpfs, "/x")}, dir, []string{"/x/a"})
	if err != nil || answers[0] != "nothing" {
		t.Errorf("a later ancestor shows %q, %v", answers, err)
	}
	answers, _, err = r.run(t, []runtime.Mount{at(runtime.MountTmpfs, "/x"), ro("/a", "/x/a")}, dir, []string{"/x/a"})
	if err != nil || answers[0] != "file a" {
		t.Errorf("a later descendant shows %q, %v", answers, err)
	}
}
