package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Plan is what a dry run prints: it probes, resolves the launch and plans it, and stops before step 2. Nothing is allocated or
// started. The plan's run has a name of its own, as a launched one would.
func (s *Sandbox) Plan(ctx context.Context, l Launch) (*Plan, error) {
	c, err := s.choose(ctx, &l)
	if err != nil {
		return nil, err
	}
	return s.plan(ctx, c, &l, s.runName(), PullNever)
}

func (s *Sandbox) resolveInput(c choice, l *Launch, run RunName, image *ImageFacts) ResolveInput {
	return ResolveInput{
		Description: c.backend.Describe(), Launch: l, Run: run, Environ: s.environ(), Identity: *c.identity, Image: image,
		CallerUID: os.Getuid(), CallerGID: os.Getgid(),
	}
}

// plan resolves and plans. most bounds what may be done for an absent image: a dry run fetches nothing.
func (s *Sandbox) plan(ctx context.Context, c choice, l *Launch, run RunName, most PullPolicy) (*Plan, error) {
	fail := func(err error) (*Plan, error) { return nil, s.failed(c.backend, c.identity, StepPlan, err) }
	if l.Artifacts != nil && len(l.Artifacts.Paths) > 0 && s.controller == nil {
		return fail(denied("artifacts", "artifacts need a controller that verifies and imports them").WithCure("pass WithController"))
	}
	in := s.resolveInput(c, l, run, nil)
	req, dropped, err := Resolve(in)
	if err != nil {
		return fail(err)
	}
	if e, ok := c.backend.(Ensurer); ok && req.Image.Ref != "" {
		i := req.Image
		if most == PullNever {
			i.Pull = PullNever
		}
		if in.Image, err = e.Ensure(ctx, i, nil); err != nil {
			return fail(err)
		}
		if req, dropped, err = Resolve(in); err != nil {
			return fail(err)
		}
	}
	if w := req.Workspace; w != nil && (w.Mode == WorkspaceCopy || w.Mode == WorkspaceVolume) && s.stager == nil {
		return fail(Fail(Unsupported, "a workspace of mode %s needs something that copies it", w.Mode).About("workspace." + string(w.Mode)).WithCure("pass WithStager(stage.New())"))
	}
	host := s.host
	if w := req.Workspace; w != nil && w.Mode == WorkspaceCopy && req.Run.Dir != "" {
		host = plannedHost{host, path.Join(req.Run.Dir, "workspace")}
	}
	p, err := c.backend.Plan(PlanInput{Request: req, Identity: *c.identity, Host: host, Image: in.Image, Dropped: dropped})
	if err != nil {
		return fail(err)
	}
	p.Identity = *c.identity
	p.Image = in.Image
	if p.Token.Backend == "" {
		p.Token = Token{Backend: c.backend.Describe().Name, Run: run}
	}
	return p, nil
}

// Word is one word of an argv with where it comes from.
type Word struct {
	// Text is the word as it may be printed: a private value is replaced by a shell reference (Variable.Reference).
	Text string `json:"text"`
	// Spec is the spec's file:line.
	Spec string `json:"spec"`
	// For is the vocabulary name, empty for a constant word.
	For string `json:"for,omitempty"`
	// Field is where the launch or policy asked for it ("launch.Mounts[2]", "policy").
	Field string `json:"field,omitempty"`
	// Private is true where Text stands for a value that is not printed.
	Private bool `json:"private,omitempty"`
	// Gate is true for words of the seam's own start gate; a command line for a person leaves them out.
	Gate bool `json:"gate,omitempty"`
	// Run is true for a word that names this one run; a digest leaves it out.
	Run bool `json:"run,omitempty"`
}

// PlannedStep says what a step of the lifecycle will do for this plan.
type PlannedStep struct {
	Step Step   `json:"step"`
	Does string `json:"does"`
}

// Claim is a guarantee the plan claims; attestation measures it.
type Claim struct {
	// Name is a vocabulary name ("hardening.pid-namespace", "limits.open-files", "network.none", "environment", …).
	Name string `json:"name"`
	// Value is what is claimed, as a person reads it.
	Value string `json:"value"`
	// Required: a mismatch is a Setup failure.
	Required bool `json:"required"`
}

// Dropped is something asked for as optional or preferred that this plan does without.
type Dropped struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Plan is the pure result of planning. What a dry run prints and what runs are the same value. A plan is used for one run, and is not
// changed after it is made; its methods are safe for concurrent use.
//
// Printing a plan with any verb, its JSON and its digest never show a private value.
type Plan struct {
	Backend  string
	Identity Identity
	Request  *Request
	// Words are the argv with origins, private values replaced.
	Words []Word
	// Environment is what the launcher itself is started with (the command, for a backend without a launcher).
	Environment []Variable
	Claims      []Claim
	Steps       []PlannedStep
	Dropped     []Dropped
	Token       Token
	// Image is what Ensure found, for engines.
	Image *ImageFacts
	// Create is an engine's create request; what it is belongs to the room that made it.
	Create any

	argv []string
}

// NewPlan makes a plan with the argv that runs. The argv may hold private values; words is the same argv as it may be printed.
func NewPlan(backend string, req *Request, argv []string, words []Word) *Plan {
	return &Plan{Backend: backend, Request: req, argv: argv, Words: words}
}

// Argv is the argv that runs, private values included: for the backend's room only, never for printing.
func (p *Plan) Argv() []string { return p.argv }

// String is a command line a person can paste into a POSIX shell. Words of the seam's own start gate are left out; a private
// value is a reference to the reader's own environment that fails with the variable's name where it is not set.
func (p *Plan) String() string {
	var b strings.Builder
	for _, v := range p.Environment {
		b.WriteString(v.String())
		b.WriteByte(' ')
	}
	first := true
	for _, w := range p.Words {
		if w.Gate {
			continue
		}
		if !first {
			b.WriteByte(' ')
		}
		first = false
		if w.Private {
			b.WriteString(w.Text)
		} else {
			b.WriteString(ShellQuote(w.Text))
		}
	}
	return b.String()
}

// Format prints String, whatever the verb, so that no verb reaches the argv that runs.
func (p *Plan) Format(f fmt.State, _ rune) { fmt.Fprint(f, p.String()) }

type planJSON struct {
	Backend     string            `json:"backend"`
	Identity    Identity          `json:"identity"`
	Run         RunName           `json:"run"`
	Digest      string            `json:"digest"`
	Command     string            `json:"command"`
	Words       []Word            `json:"argv"`
	Environment []Variable        `json:"environment"`
	Inside      []Variable        `json:"environment_inside"`
	Credentials []CredentialGrant `json:"credentials,omitempty"`
	Workdir     string            `json:"workdir,omitempty"`
	Hostname    string            `json:"hostname,omitempty"`
	User        User              `json:"user"`
	Image       *ImageFacts       `json:"image,omitempty"`
	Mounts      []Mount           `json:"mounts"`
	Network     Network           `json:"network"`
	Limits      Limits            `json:"limits"`
	Hardening   Hardening         `json:"hardening"`
	Labels      []Label           `json:"labels,omitempty"`
	Timeouts    Timeouts          `json:"timeouts"`
	Claims      []Claim           `json:"claims"`
	Steps       []PlannedStep     `json:"steps"`
	Dropped     []Dropped         `json:"dropped,omitempty"`
	Because     []Reason          `json:"because,omitempty"`
}

func (p *Plan) view() planJSON {
	r := p.Request
	return planJSON{
		Backend: p.Backend, Identity: p.Identity, Run: r.Run, Words: p.Words,
		Environment: p.Environment, Inside: r.Env, Credentials: r.Credentials, Workdir: r.Dir, Hostname: r.Hostname, User: r.User,
		Image: p.Image, Mounts: r.Mounts, Network: r.Network, Limits: r.Limits, Hardening: r.Hardening, Labels: r.Labels,
		Timeouts: r.Timeouts, Claims: p.Claims, Steps: p.Steps, Dropped: p.Dropped, Because: r.Because,
	}
}

// MarshalJSON gives the plan in a stable form: the same plan, the same bytes.
func (p *Plan) MarshalJSON() ([]byte, error) {
	v := p.view()
	v.Command, v.Digest = p.String(), p.Digest()
	return json.Marshal(v)
}

// JSON gives the stable, indented form, ending in a line break.
func (p *Plan) JSON() ([]byte, error) {
	b, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("writing plan as JSON: %w", err)
	}
	return append(b, '\n'), nil
}

// Digest identifies what the plan does: "sha256:" and 64 hexadecimal digits. It is the same for two launches that ask for the same of
// the same backend, whoever launches them and whenever: the run's own name and directory, its ownership labels and the values of
// private variables and credentials are not in it; their names are.
func (p *Plan) Digest() string {
	v := p.view()
	// What names this one run is replaced wherever it stands: the id, the owner and the directory are random and long, so nothing
	// else can be meant.
	anonymous := p.Request.Run.anonymous()
	v.Run = RunName{}
	v.Words = make([]Word, 0, len(p.Words))
	for _, w := range p.Words {
		w.Text = anonymous.Replace(w.Text)
		v.Words = append(v.Words, w)
	}
	v.Mounts = slices.Clone(v.Mounts)
	for i := range v.Mounts {
		v.Mounts[i].Source = anonymous.Replace(v.Mounts[i].Source)
	}
	v.Workdir = anonymous.Replace(v.Workdir)
	v.Steps = slices.Clone(v.Steps)
	for i := range v.Steps {
		v.Steps[i].Does = anonymous.Replace(v.Steps[i].Does)
	}
	v.Claims = slices.Clone(v.Claims)
	for i := range v.Claims {
		v.Claims[i].Value = anonymous.Replace(v.Claims[i].Value)
	}
	v.Labels = nil
	for _, l := range p.Request.Labels {
		if !strings.HasPrefix(l.Name, LabelPrefix) {
			v.Labels = append(v.Labels, l)
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		// Every field is a plain value; only a change of these types can get here, and then every test does.
		panic(fmt.Sprintf("plan digest: %v", err))
	}
	h := sha256.New()
	h.Write(b)
	for _, m := range p.Request.Mounts {
		if m.Kind == MountFile && !p.Request.grants(m.Target) {
			s := sha256.Sum256(m.Data)
			h.Write(s[:])
		}
	}
	if s := p.Request.Script; s != nil {
		t := sha256.Sum256(s.Text)
		h.Write(t[:])
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// grants reports whether the file at target is a credential's.
func (r *Request) grants(target string) bool {
	return slices.ContainsFunc(r.Credentials, func(g CredentialGrant) bool { return g.File == target })
}

// ShellQuote gives s as one word of a POSIX shell.
func ShellQuote(s string) string {
	if s == "" {
		return "''"
	}
	safe := true
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("_-./:=@%+,", c) >= 0:
		default:
			safe = false
		}
	}
	if safe {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// HostView is the host as planning may look at it, and no further. Implementations answer from the real file system, or from a
// model in tests; errors wrap fs.ErrNotExist where nothing is there.
type HostView interface {
	// Lstat describes path without following a last symbolic link.
	Lstat(path string) (fs.FileInfo, error)
	// Readlink gives the text of a symbolic link.
	Readlink(path string) (string, error)
	// ReadDir lists a directory, sorted by name.
	ReadDir(path string) ([]fs.DirEntry, error)
	// ReadFile reads a small file (a .git file, a limits file); at most 1 MiB.
	ReadFile(path string) ([]byte, error)
}

// PlanInput is everything a backend's Plan may use.
type PlanInput struct {
	// Request is resolved; its Mounts are in the order asked for, policy first. Plan may replace Mounts with the planned order, and
	// assigns descriptors.
	Request  *Request
	Identity Identity
	Host     HostView
	Image    *ImageFacts
	Dropped  []Dropped
}
