package sbxtest

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// with gives what a program writes in a launch that has these mounts.
func (c *C) with(mounts []runtime.Mount, p ...Act) string {
	l := c.launch(p...)
	l.Mounts = mounts
	return c.plain().ok(l)
}

// shows checks what a program wrote.
func (c *C) shows(got string, want ...string) {
	if !slices.Equal(linesOf(got), want) {
		c.Errorf("the command shows %q, want %q", linesOf(got), want)
	}
}

func (c *C) content(path, want string) {
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		c.Errorf("%s has %q, %v, want %q", path, got, err, want)
	}
}

func placeChecks() []Check {
	workspace := func(c *C, mode runtime.WorkspaceMode, source string, p ...Act) string {
		l := c.launch(p...)
		l.Workspace = &runtime.Workspace{Source: source, Mode: mode}
		return c.plain().ok(l)
	}
	return []Check{
		check("the working directory is the one asked for", ruleDir, func(c *C) {
			l := c.launch(act(DoDir))
			l.Dir = "/usr"
			c.shows(c.plain().ok(l), "/usr")
		}, "workdir"),
		check("without one asked for, the workspace is the working directory", ruleDir, func(c *C) {
			d := c.dir()
			target := c.subject.Backend.Describe().Policy.Workspace.Target
			if c.subject.Backend.Describe().Unsandboxed {
				target = d
			}
			c.shows(workspace(c, runtime.WorkspaceBindRW, d, act(DoDir)), target)
		}, "workspace.bind-rw", "workdir"),
		check("a working directory that is not there never becomes another", ruleDidItRun, func(c *C) {
			l := c.launch(say("ran"))
			out := &output{}
			l.Dir, l.Stdout = "/no/such/directory", out
			res, err := c.plain().run(l)
			if err == nil && !strings.Contains(out.String(), "ran") {
				c.Errorf("came to %s, %v", res, err)
			}
			if out.String() != "" && c.subject.Backend.Describe().Kind == "process" {
				c.Errorf("the command ran: %q", out)
			}
		}, "workdir"),
		check("what the command writes in a writable workspace stands outside", ruleWorkspace, func(c *C) {
			d := c.dir()
			c.shows(workspace(c, runtime.WorkspaceBindRW, d, write("made", "by the command")), "written")
			c.content(filepath.Join(d, "made"), "by the command")
		}, "workspace.bind-rw"),
		check("a read-only workspace can be read and not written", ruleWorkspace, func(c *C) {
			d := c.dir()
			c.file(d, "in", "content\n")
			c.shows(workspace(c, runtime.WorkspaceBindRO, d, read("in"), write("made", "x"), write("in", "y")), "content", "refused", "refused")
			c.content(filepath.Join(d, "in"), "content\n")
		}, "workspace.bind-ro"),
		check("a copied workspace leaves its source as it was", ruleWorkspace, func(c *C) {
			if c.subject.Stager == nil {
				c.Gap("the subject has nothing that copies workspaces")
			}
			d := c.dir()
			c.file(d, "in", "content\n")
			c.shows(workspace(c, runtime.WorkspaceCopy, d, read("in"), write("in", "changed"), write("made", "x")), "content", "written", "written")
			c.content(filepath.Join(d, "in"), "content\n")
			if _, err := os.Lstat(filepath.Join(d, "made")); err == nil {
				c.Errorf("the command wrote into the source")
			}
		}, "workspace.copy"),
		check("a workspace that is not there is refused", ruleRefuseEarly, func(c *C) {
			l := c.launch(say("x"))
			l.Workspace = &runtime.Workspace{Source: "/no/such/workspace"}
			_, err := c.plain().run(l)
			if f := c.failure(err); f.Charged && c.subject.Backend.Describe().Kind != "process" {
				c.Errorf("refused after the charge: %v", err)
			}
		}, "workspace.bind-rw"),
		check("a read-only bind can be read and not written", ruleMounts, func(c *C) {
			d := c.dir()
			c.file(d, "in", "content\n")
			c.shows(c.with([]runtime.Mount{{Kind: runtime.MountBindRO, Source: d, Target: "/mnt/data"}}, read("/mnt/data/in"), write("/mnt/data/made", "x")), "content", "refused")
		}, "mount.bind-ro"),
		check("what is written through a writable bind stands outside", ruleMounts, func(c *C) {
			d := c.dir()
			c.shows(c.with([]runtime.Mount{{Kind: runtime.MountBindRW, Source: d, Target: "/mnt/data"}}, write("/mnt/data/made", "x")), "written")
			c.content(filepath.Join(d, "made"), "x")
		}, "mount.bind-rw"),
		check("a bind of what is not there is refused", ruleMounts, func(c *C) {
			l := c.launch(say("x"))
			l.Mounts = []runtime.Mount{{Kind: runtime.MountBindRO, Source: "/no/such/source", Target: "/mnt/data"}}
			_, err := c.plain().run(l)
			if err == nil {
				c.Fatalf("it ran")
			}
			c.failure(err)
			if _, err := os.Lstat("/no/such/source"); err == nil {
				c.Errorf("the source was made")
			}
		}, "mount.bind-ro"),
		check("an optional bind of what is not there is dropped and told", ruleMounts, func(c *C) {
			l := c.launch(say("x"))
			l.Mounts = []runtime.Mount{{Kind: runtime.MountBindRO, Source: "/no/such/source", Target: "/mnt/data", Optional: true}}
			res, err := c.plain().run(l)
			if err != nil || !slices.ContainsFunc(res.Facts.Dropped, func(d runtime.Dropped) bool {
				return strings.Contains(d.What+d.Why, "/no/such/source") || strings.Contains(d.What, "/mnt/data")
			}) {
				c.Errorf("came to %s, %v; dropped %+v", res, err, res.Facts.Dropped)
			}
		}, "mount.bind-ro"),
		check("a tmpfs can be written", ruleMounts, func(c *C) {
			c.shows(c.with([]runtime.Mount{{Kind: runtime.MountTmpfs, Target: "/scratch", Mode: 0o1777}}, write("/scratch/a", "text\n"), read("/scratch/a")), "written", "text")
		}, "mount.tmpfs"),
		check("a file given as data has that content", ruleMounts, func(c *C) {
			c.shows(c.with([]runtime.Mount{{Kind: runtime.MountFile, Target: "/run/sbx/sbxtest-config", Data: []byte("from data\n")}}, read("/run/sbx/sbxtest-config")), "from data")
		}, "mount.file"),
		check("a symbolic link leads where it says", ruleMounts, func(c *C) {
			d := c.dir()
			c.file(d, "in", "content\n")
			c.shows(c.with([]runtime.Mount{
				{Kind: runtime.MountBindRO, Source: d, Target: "/mnt/data"}, {Kind: runtime.MountSymlink, Source: "/mnt/data", Target: "/run/sbx/sbxtest-link"},
			}, read("/run/sbx/sbxtest-link/in")), "content")
		}, "mount.symlink", "mount.bind-ro"),
		check("a masked file is empty", ruleMounts, func(c *C) {
			d := c.dir()
			c.file(d, "secret", "hidden\n")
			c.file(d, "open", "seen\n")
			c.shows(c.with([]runtime.Mount{
				{Kind: runtime.MountBindRO, Source: d, Target: "/mnt/data"}, {Kind: runtime.MountMask, Target: "/mnt/data/secret"},
			}, read("/mnt/data/secret"), read("/mnt/data/open")), "seen")
		}, "mount.mask-file", "mount.bind-ro"),
		check("a masked directory shows nothing", ruleMounts, func(c *C) {
			d := c.dir()
			c.must(os.Mkdir(filepath.Join(d, "private"), 0o755), "making a directory")
			c.file(filepath.Join(d, "private"), "secret", "hidden\n")
			c.shows(c.with([]runtime.Mount{
				{Kind: runtime.MountBindRO, Source: d, Target: "/mnt/data"}, {Kind: runtime.MountMask, Target: "/mnt/data/private"},
			}, read("/mnt/data/private/secret")), "absent")
		}, "mount.mask-dir", "mount.bind-ro"),
		check("a mount inside another stands, in whichever order they are given", ruleMounts, func(c *C) {
			outer, inner := c.dir(), c.dir()
			c.must(os.Mkdir(filepath.Join(outer, "sub"), 0o755), "making a directory")
			c.file(outer, "a", "outer\n")
			c.file(inner, "b", "inner\n")
			c.shows(c.with([]runtime.Mount{
				{Kind: runtime.MountBindRO, Source: inner, Target: "/mnt/data/sub"}, {Kind: runtime.MountBindRO, Source: outer, Target: "/mnt/data"},
			}, read("/mnt/data/a"), read("/mnt/data/sub/b")), "outer", "inner")
		}, "mount.bind-ro"),
		check("a file of the host that nobody granted is not there", ruleMounts, func(c *C) {
			p := c.file(c.dir(), "ungranted", "of the host\n")
			c.shows(c.with(nil, read(p)), "absent")
		}, "mount.bind-ro"),
		check("the host name is the one asked for", ruleDir, func(c *C) {
			l := c.launch(act(DoHost))
			l.Hostname = "sbxtest-box"
			c.shows(c.plain().ok(l), "sbxtest-box")
		}, "hostname"),
		check("the user is the one asked for", ruleUser, func(c *C) {
			l := c.launch(act(DoUser))
			l.User = runtime.User{Kind: runtime.UserID, UID: 1234, GID: 5678}
			c.shows(c.plain().ok(l), "1234", "5678")
		}, "user.id"),
		check("the user is the caller where that is asked for", ruleUser, func(c *C) {
			l := c.launch(act(DoUser))
			l.User = runtime.User{Kind: runtime.UserCaller}
			c.shows(c.plain().ok(l), strconv.Itoa(os.Getuid()), strconv.Itoa(os.Getgid()))
		}, "user.caller"),
		check("the root cannot be written where it is read-only", ruleMounts, func(c *C) {
			l := c.launch(write("/sbxtest-root", "x"), write("/usr/sbxtest", "x"))
			l.Hardening.ReadOnlyRoot = true
			c.shows(c.plain().ok(l), "refused", "refused")
		}, "hardening.read-only-root"),
	}
}
