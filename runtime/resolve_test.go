package runtime

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// everything is a description that can do every feature a launch can name, with a policy of a few words.
func everything(kind string) *Description {
	d := &Description{Name: "test", Kind: kind}
	for _, n := range Vocabulary() {
		d.Features = append(d.Features, Feature{Name: n, How: HowImplied})
	}
	slices.SortFunc(d.Features, func(a, b Feature) int { return strings.Compare(a.Name, b.Name) })
	d.Policy = Policy{
		Environment: EnvironmentPolicy{
			Forward: []string{"LANG", "LC_*"},
			Set:     []Variable{{Name: "PATH", Value: "/bin", Public: true}},
			Accept:  []string{"CI", "TERM", "X_*"},
			Deny:    []string{"LC_SECRET"},
		},
		Limits:        []LimitRule{{Name: "limits.open-files", Default: AtMost(100), Max: AtMost(200)}, {Name: "limits.core", Default: AtMost(0)}},
		Hardening:     []HardeningRule{{Name: "hardening.pid-namespace", Level: LevelRequired}, {Name: "hardening.landlock", Level: LevelPreferred}, {Name: "hardening.init", Level: LevelOff}},
		NetworkAccept: []NetworkMode{NetworkHost, NetworkPrivate},
		Credentials:   []CredentialRule{{Role: "api", Env: "API_KEY"}, {Role: "git", File: "/run/git"}, {Role: "fd", Descriptor: true}},
		UserAccept:    []UserKind{UserID, UserCaller},
		Workspace:     WorkspacePolicy{Target: "/workspace", Accept: []WorkspaceMode{WorkspaceBindRW, WorkspaceBindRO, WorkspaceCopy}, Files: 1000},
		Timeouts:      Timeouts{Wall: time.Minute},
		Image:         Image{Ref: "base:1"},
		ImageAccept:   []string{"ok:*"},
	}
	return d
}

func without(d *Description, name, why string) *Description {
	for i := range d.Features {
		if d.Features[i].Name == name {
			d.Features[i].How, d.Features[i].Reason = HowUnsupported, why
		}
	}
	return d
}

const secretValue = "canary-5f1e"

func resolve(d *Description, l Launch, change func(*ResolveInput)) (*Request, []Dropped, error) {
	if l.Argv == nil && l.Script == nil {
		l.Argv = []string{"true"}
	}
	in := ResolveInput{Description: d, Launch: &l, Run: RunName{ID: "r1", Owner: "o1", Dir: "/state/runs/r1"},
		Environ: []string{"LANG=C", "LC_ALL=C", "LC_SECRET=" + secretValue, "HOME=/root", "CI=" + secretValue, "AWS_SECRET=" + secretValue}, CallerUID: 7, CallerGID: 8}
	if change != nil {
		change(&in)
	}
	return Resolve(in)
}

func TestResolveRefuses(t *testing.T) {
	file := os.Stdin
	for _, c := range []struct {
		name    string
		launch  Launch
		d       *Description
		change  func(*ResolveInput)
		kind    error
		feature string
	}{
		{name: "neither argv nor script", launch: Launch{Argv: []string{}}, kind: ErrDenied, feature: "command"},
		{name: "both argv and script", launch: Launch{Argv: []string{"a"}, Script: &Script{Interpreter: []string{"sh"}}}, kind: ErrDenied, feature: "command"},
		{name: "script without interpreter", launch: Launch{Script: &Script{}}, kind: ErrDenied, feature: "script"},
		{name: "empty program", launch: Launch{Argv: []string{""}}, kind: ErrDenied, feature: "command"},
		{name: "NUL in a word", launch: Launch{Argv: []string{"a", "b\x00c"}}, kind: ErrDenied, feature: "command"},
		{name: "variable outside the allowlist", launch: Launch{Env: Environment{Set: map[string]string{"LD_PRELOAD": secretValue}}}, kind: ErrDenied, feature: "environment.set"},
		{name: "variable name that is none", launch: Launch{Env: Environment{Set: map[string]string{"X_A=B": secretValue}}}, kind: ErrDenied, feature: "environment.set"},
		{name: "NUL in a value", launch: Launch{Env: Environment{Set: map[string]string{"CI": "\x00" + secretValue}}}, kind: ErrDenied, feature: "environment.set"},
		{name: "forward outside the allowlist", launch: Launch{Env: Environment{Forward: []string{"AWS_SECRET"}}}, kind: ErrDenied, feature: "environment.forward"},
		{name: "PATH entry with a colon", launch: Launch{Env: Environment{Path: Path{Prepend: []string{"/a:/b"}}}}, kind: ErrDenied, feature: "environment.path"},
		{name: "undeclared credential role", launch: Launch{Credentials: map[string]Credential{"nope": {Value: []byte(secretValue)}}}, kind: ErrDenied, feature: "credentials"},
		{name: "relative directory", launch: Launch{Dir: "a"}, kind: ErrDenied, feature: "workdir"},
		{name: "host name with a slash", launch: Launch{Hostname: "a/b"}, kind: ErrDenied, feature: "hostname"},
		{name: "reserved label", launch: Launch{Labels: map[string]string{"sbxkit.owner": "me"}}, kind: ErrDenied, feature: "labels"},
		{name: "user by image is not accepted", launch: Launch{User: User{Kind: UserImage}}, kind: ErrDenied, feature: "user.image"},
		{name: "negative uid", launch: Launch{User: User{Kind: UserID, UID: -1}}, kind: ErrDenied, feature: "user.id"},
		{name: "image not accepted", launch: Launch{Image: Image{Ref: "evil:1"}}, kind: ErrDenied, feature: "image"},
		{name: "image that is an option", launch: Launch{Image: Image{Ref: "ok:-"}}, d: func() *Description { d := everything("engine"); d.Policy.Image.Ref = "--privileged"; return d }(), change: func(in *ResolveInput) { in.Launch.Image.Ref = "" }, kind: ErrDenied, feature: "image"},
		{name: "pull beyond the policy", launch: Launch{Image: Image{Pull: PullAlways}}, kind: ErrDenied, feature: "image.pull"},
		{name: "workspace mode not accepted", launch: Launch{Workspace: &Workspace{Source: "/w", Mode: WorkspaceVolume}}, kind: ErrDenied, feature: "workspace.volume"},
		{name: "relative workspace", launch: Launch{Workspace: &Workspace{Source: "w"}}, kind: ErrDenied, feature: "workspace.bind-rw"},
		{name: "workspace over the root", launch: Launch{Workspace: &Workspace{Source: "/w", Target: "/"}}, kind: ErrDenied, feature: "workspace.bind-rw"},
		{name: "workspace bound above the policy", launch: Launch{Workspace: &Workspace{Source: "/w", Mode: WorkspaceCopy, Files: 2000}}, kind: ErrDenied, feature: "workspace.copy"},
		{name: "copy without a state directory", launch: Launch{Workspace: &Workspace{Source: "/w", Mode: WorkspaceCopy}}, change: func(in *ResolveInput) { in.Run.Dir = "" }, kind: ErrDenied, feature: "workspace.copy"},
		{name: "git tree bound", launch: Launch{Workspace: &Workspace{Source: "/w", Treeish: "HEAD", Mode: WorkspaceBindRW}}, kind: ErrDenied, feature: "workspace.bind-rw"},
		{name: "optional writable mount", launch: Launch{Mounts: []Mount{{Kind: MountBindRW, Source: "/a", Target: "/b", Optional: true}}}, kind: ErrDenied, feature: "mount.bind-rw"},
		{name: "unknown mount kind", launch: Launch{Mounts: []Mount{{Kind: "magic", Target: "/b"}}}, kind: ErrDenied, feature: "mount"},
		{name: "network not accepted", launch: Launch{Network: Network{Mode: NetworkEgress, Socket: "/s"}}, kind: ErrDenied, feature: "network.egress"},
		{name: "publish without a private network", launch: Launch{Network: Network{Publish: []Port{{Container: 80}}}}, kind: ErrDenied, feature: "network.publish"},
		{name: "publish on no address", launch: private(Network{Publish: []Port{{Container: 80, Address: "everywhere"}}}), kind: ErrDenied, feature: "network.publish"},
		{name: "publish of no protocol", launch: private(Network{Publish: []Port{{Container: 80, Protocol: "sctp"}}}), kind: ErrDenied, feature: "network.publish"},
		{name: "alias that is no name", launch: private(Network{Aliases: []string{"a,b"}}), kind: ErrDenied, feature: "network.aliases"},
		{name: "host without an address", launch: private(Network{Hosts: []Host{{Name: "db"}}}), kind: ErrDenied, feature: "network.hosts"},
		{name: "name server without an address", launch: private(Network{DNS: []netip.Addr{{}}}), kind: ErrDenied, feature: "network.dns"},
		{name: "swap without memory", launch: Launch{Limits: Limits{Swap: AtMost(0)}}, kind: ErrDenied, feature: "limits.swap"},
		{name: "limit above the policy's", launch: Launch{Limits: Limits{OpenFiles: AtMost(201)}}, kind: ErrDenied, feature: "limits.open-files"},
		{name: "core above a default without a maximum", launch: Launch{Limits: Limits{Core: AtMost(1)}}, kind: ErrDenied, feature: "limits.core"},
		{name: "soft above hard", launch: Launch{Limits: Limits{Stack: &Limit{Soft: 2, Hard: 1}}}, kind: ErrDenied, feature: "limits.stack"},
		{name: "cpuset that is none", launch: Launch{Limits: Limits{CPUSet: "0-"}}, kind: ErrDenied, feature: "limits.cpuset"},
		{name: "wall above the policy's", launch: Launch{Timeouts: Timeouts{Wall: time.Hour}}, kind: ErrDenied, feature: "timeouts.wall"},
		{name: "negative timeout", launch: Launch{Timeouts: Timeouts{Idle: -1}}, kind: ErrDenied, feature: "timeouts.idle"},
		{name: "stdin file without a file", launch: Launch{Stdin: Stdin{Mode: StdinFile}}, kind: ErrDenied, feature: "stdin.file"},
		{name: "stdin reader without a pipe", launch: Launch{Stdin: Stdin{Reader: strings.NewReader("")}}, kind: ErrDenied, feature: "stdin"},
		{name: "terminal with a stdin pipe", launch: Launch{Terminal: &Terminal{}, Stdin: Stdin{Mode: StdinPipe}}, kind: ErrDenied, feature: "terminal"},
		{name: "terminal with a stdin file", launch: Launch{Terminal: &Terminal{}, Stdin: Stdin{Mode: StdinFile, File: file}}, kind: ErrDenied, feature: "terminal"},
		{name: "terminal with a duplex stream", launch: Launch{Terminal: &Terminal{}, Stdout: Pipe}, kind: ErrDenied, feature: "terminal"},
		{name: "terminal with a separate stderr", launch: Launch{Terminal: &Terminal{}, Stdout: NewTail(1, 1), Stderr: NewTail(1, 1)}, kind: ErrDenied, feature: "terminal"},
		{name: "two kinds of ready", launch: Launch{Ready: &Ready{Port: 1, Notify: true}}, kind: ErrDenied, feature: "ready"},
		{name: "no kind of ready", launch: Launch{Ready: &Ready{}}, kind: ErrDenied, feature: "ready"},
		{name: "artifact that is the root", launch: Launch{Artifacts: &Artifacts{Paths: []string{"/.."}}}, kind: ErrDenied, feature: "artifacts"},
		{name: "feature the backend cannot do", launch: Launch{Limits: Limits{Memory: AtMost(1 << 20)}}, d: without(everything("process"), "limits.memory", "no cgroup of its own"), kind: ErrUnsupported, feature: "limits.memory"},
		{name: "required option the backend cannot do", d: without(everything("process"), "hardening.pid-namespace", "none"), kind: ErrUnsupported, feature: "hardening.pid-namespace"},
		{name: "option asked for that is only preferred", launch: Launch{Hardening: Hardening{Landlock: true}}, d: without(everything("process"), "hardening.landlock", "not built"), kind: ErrUnsupported, feature: "hardening.landlock"},
		{name: "feature the host cannot do", change: func(in *ResolveInput) {
			in.Identity.Absent = []Absence{{Feature: "hardening.pid-namespace", Why: "the kernel says no", Cure: "another kernel"}}
		}, kind: ErrUnsupported, feature: "hardening.pid-namespace"},
		{name: "feature the generated code does not know", d: func() *Description { d := everything("process"); d.Features = nil; return d }(), kind: ErrUnsupported, feature: "command"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.d
			if d == nil {
				d = everything("process")
			}
			_, _, err := resolve(d, c.launch, c.change)
			var f *Failure
			if !errors.As(err, &f) || !errors.Is(err, c.kind) || f.Feature != c.feature || f.Step != StepPlan {
				t.Fatalf("got %v (feature %q), want %v about %s at plan", err, f.Feature, c.kind, c.feature)
			}
			if strings.Contains(err.Error(), secretValue) {
				t.Fatalf("the error shows a value: %v", err)
			}
		})
	}
}

// private is a launch into a private network.
func private(n Network) Launch {
	n.Mode = NetworkPrivate
	return Launch{Network: n}
}

func TestPublishedPortsAreOnLoopbackUnlessSaidOtherwise(t *testing.T) {
	given := []Port{{Container: 80}, {Address: "0.0.0.0", Host: 53, Container: 53, Protocol: "udp"}}
	req, _, err := resolve(everything("engine"), private(Network{Publish: given}), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Port{{Address: "127.0.0.1", Container: 80, Protocol: "tcp"}, {Address: "0.0.0.0", Host: 53, Container: 53, Protocol: "udp"}}
	if !slices.Equal(req.Network.Publish, want) {
		t.Errorf("got %+v, want %+v", req.Network.Publish, want)
	}
	if given[0].Address != "" {
		t.Error("the launch was changed")
	}
}

func TestResolveEnvironment(t *testing.T) {
	for _, c := range []struct {
		name string
		env  Environment
		drop func(*Policy)
		want string
	}{
		{name: "policy alone", want: "LANG LC_ALL PATH=/bin"},
		{name: "accepted value", env: Environment{Set: map[string]string{"CI": "1", "X_A": "2"}}, want: "CI LANG LC_ALL PATH=/bin X_A"},
		{name: "accepted forward", env: Environment{Forward: []string{"CI"}}, want: "CI LANG LC_ALL PATH=/bin"},
		{name: "a pattern forwards only what is accepted", env: Environment{Forward: []string{"*"}}, want: "CI LANG LC_ALL PATH=/bin"},
		{name: "deny wins", env: Environment{Set: map[string]string{"CI": "1"}, Deny: []string{"C*", "LANG"}}, want: "LC_ALL PATH=/bin"},
		{name: "prepended path is private", env: Environment{Path: Path{Prepend: []string{"/a", "/b"}}}, want: "LANG LC_ALL PATH"},
		{name: "an empty allowlist allows nothing", drop: func(p *Policy) { p.Environment = EnvironmentPolicy{} }, want: ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := everything("process")
			if c.drop != nil {
				c.drop(&d.Policy)
			}
			req, _, err := resolve(d, Launch{Env: c.env}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range req.Env {
				if v.Public {
					got = append(got, v.Name+"="+v.Value)
				} else {
					got = append(got, v.Name)
				}
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("got %q, want %q", s, c.want)
			}
		})
	}
}

func TestResolvePathIsPrependedInOrder(t *testing.T) {
	req, _, err := resolve(everything("process"), Launch{Env: Environment{Path: Path{Prepend: []string{"/a", "/b"}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(req.Env, func(v Variable) bool { return v.Name == "PATH" })
	if got := req.Env[i].Value; got != "/a:/b:/bin" {
		t.Errorf("PATH is %q", got)
	}
}

func TestResolveNeverPrintsAValue(t *testing.T) {
	req, _, err := resolve(everything("process"), Launch{
		Env:         Environment{Set: map[string]string{"CI": secretValue}},
		Credentials: map[string]Credential{"api": {Value: []byte(secretValue)}, "git": {Value: []byte(secretValue)}, "fd": {Value: []byte(secretValue)}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := NewPlan("test", req, []string{"x", secretValue}, nil)
	p.Environment = req.Env
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		for _, v := range []any{p, *req, req, req.Env, req.Credentials} {
			if s := formatted(verb, v); strings.Contains(s, secretValue) {
				t.Errorf("%s of %T shows a value", verb, v)
			}
		}
	}
	b, err := p.JSON()
	if err != nil || strings.Contains(string(b), secretValue) {
		t.Errorf("the plan's JSON shows a value, or %v", err)
	}
	if got := []int{req.Credentials[0].Descriptor, req.Credentials[1].Descriptor, req.Credentials[2].Descriptor}; !slices.Equal(got, []int{0, FirstDescriptor, 0}) {
		t.Errorf("descriptors %v of %v", got, req.Credentials)
	}
}

func TestResolveDropsAPreferredOptionAndSaysSo(t *testing.T) {
	req, dropped, err := resolve(without(everything("process"), "hardening.landlock", "not built"), Launch{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if req.Hardening.Landlock || len(dropped) != 1 || dropped[0].What != "hardening.landlock" {
		t.Errorf("landlock %v, dropped %v", req.Hardening.Landlock, dropped)
	}
	if !req.Hardening.PIDNamespace || !slices.Contains(req.Required, "hardening.pid-namespace") {
		t.Error("a required option is missing")
	}
}

func TestKnobsAreReadFromTheEnvironmentOfEachLaunch(t *testing.T) {
	d := everything("engine")
	d.Policy.Knobs = []Knob{{Env: "K_IMAGE", Sets: "image", Default: "default:1"}, {Env: "K_USER", Sets: "user"}, {Env: "K_FILES", Sets: "limits.open-files"}}
	req, _, err := resolve(d, Launch{}, func(in *ResolveInput) { in.Environ = []string{"K_IMAGE=knob:2", "K_USER=5:6", "K_FILES=9"} })
	if err != nil {
		t.Fatal(err)
	}
	if req.Image.Ref != "knob:2" || req.User != (User{UserID, 5, 6}) || req.Limits.OpenFiles.Hard != 9 {
		t.Errorf("image %q user %v files %v", req.Image.Ref, req.User, req.Limits.OpenFiles)
	}
	if req, _, err = resolve(d, Launch{}, nil); err != nil || req.Image.Ref != "default:1" {
		t.Errorf("image %v, %v", req, err)
	}
	if _, _, err = resolve(d, Launch{}, func(in *ResolveInput) { in.Environ = []string{"K_FILES=many"} }); !errors.Is(err, ErrDenied) {
		t.Errorf("a knob that is no number: %v", err)
	}
	if _, _, err = resolve(d, Launch{}, func(in *ResolveInput) { in.Environ = []string{"K_FILES=201"} }); !errors.Is(err, ErrDenied) {
		t.Errorf("a knob above the policy's most: %v", err)
	}
}

func TestDigestLeavesOutWhatNamesTheRun(t *testing.T) {
	plan := func(id string, l Launch) *Plan {
		dir := filepath.Join("/state/runs", id)
		l.Workspace = &Workspace{Source: "/w", Mode: WorkspaceCopy}
		req, _, err := resolve(everything("process"), l, func(in *ResolveInput) { in.Run = RunName{ID: id, Owner: "owner-" + id, Dir: dir} })
		if err != nil {
			t.Fatal(err)
		}
		return NewPlan("test", req, nil, []Word{{Text: "--name"}, {Text: "sbx-" + id}, {Text: "--bind"}, {Text: dir + "/workspace"}, {Text: strings.Join(req.Command, " ")}})
	}
	a, b := plan("aaaaaaaa", Launch{}), plan("bbbbbbbb", Launch{})
	if a.Digest() != b.Digest() {
		t.Error("two launches of the same have two digests")
	}
	for name, l := range map[string]Launch{
		"another word":  {Argv: []string{"true", "1"}},
		"another label": {Labels: map[string]string{"a": "b"}},
		"another limit": {Limits: Limits{OpenFiles: AtMost(3)}},
		"another name":  {Env: Environment{Set: map[string]string{"CI": "1"}}},
		"a file's data": {Mounts: []Mount{{Kind: MountFile, Target: "/f", Data: []byte("1")}}},
		"a script text": {Script: &Script{Interpreter: []string{"sh"}, Text: []byte("1")}},
	} {
		if plan("cccccccc", l).Digest() == a.Digest() {
			t.Errorf("%s: the digest does not change", name)
		}
	}
}

func formatted(verb string, v any) string { return fmt.Sprintf(verb, v) }

func TestTheModeOfAWorkspaceThatNoneIsNamedFor(t *testing.T) {
	all := []WorkspaceMode{WorkspaceBindRW, WorkspaceCopy, WorkspaceVolume}
	for _, c := range []struct {
		name    string
		policy  WorkspaceMode
		accept  []WorkspaceMode
		remote  bool
		treeish string
		want    WorkspaceMode
		said    bool // in the facts
	}{
		{"nothing said", "", all, false, "", WorkspaceBindRW, false},
		{"the policy's", WorkspaceCopy, all, false, "", WorkspaceCopy, false},
		{"the policy's, elsewhere", WorkspaceCopy, all, true, "", WorkspaceCopy, false},
		{"an engine elsewhere", "", all, true, "", WorkspaceVolume, true},
		{"an engine elsewhere, and no volumes", "", []WorkspaceMode{WorkspaceBindRW}, true, "", WorkspaceBindRW, false},
		{"a git tree", "", all, true, "HEAD", WorkspaceCopy, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, dropped, err := resolve(everything("engine"), Launch{Workspace: &Workspace{Source: "/w", Treeish: c.treeish}}, func(in *ResolveInput) {
				d := *in.Description
				d.Policy.Workspace.Default, d.Policy.Workspace.Accept = c.policy, c.accept
				in.Description, in.Identity.Remote = &d, c.remote
			})
			if err != nil {
				t.Fatal(err)
			}
			dropped = slices.DeleteFunc(dropped, func(d Dropped) bool { return d.What != "workspace.bind-rw" })
			if r.Workspace.Mode != c.want || c.said != (len(dropped) != 0) {
				t.Errorf("%s, dropped %v; want %s", r.Workspace.Mode, dropped, c.want)
			}
		})
	}
}
