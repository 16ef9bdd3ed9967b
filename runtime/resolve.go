package runtime

import (
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"
)

// ResolveInput is everything Resolve may use.
type ResolveInput struct {
	Description *Description
	Launch      *Launch
	Run         RunName
	// Environ is the controller's environment as NAME=value (os.Environ); knobs and forwarded variables are read from it.
	Environ  []string
	Identity Identity
	Image    *ImageFacts
	// CallerUID and CallerGID are the controller's own, for UserCaller.
	CallerUID, CallerGID int
}

// Resolve merges a launch into a policy. It is pure. What the policy forbids is Denied, what the backend or host cannot do is
// Unsupported; both name the feature and never a private value. Mounts come out in the order asked for (policy, workspace,
// launch); a backend's planner orders them.
func Resolve(in ResolveInput) (*Request, []Dropped, error) {
	r := &resolver{in: in, d: in.Description, p: &in.Description.Policy, l: in.Launch, host: environMap(in.Environ), asked: map[string]bool{}}
	r.req = &Request{Run: in.Run, Because: in.Description.Because}
	for _, step := range []func() error{
		r.knobs, r.command, r.place, r.environment, r.credentials, r.user, r.image, r.mounts, r.network, r.limits, r.hardening,
		r.streams, r.times, r.labels, r.descriptors, r.supported,
	} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	sort.Slice(r.req.Env, func(i, j int) bool { return r.req.Env[i].Name < r.req.Env[j].Name })
	r.req.Asked = slices.Sorted(maps.Keys(r.asked))
	return r.req, r.dropped, nil
}

type resolver struct {
	in      ResolveInput
	d       *Description
	p       *Policy
	l       *Launch
	req     *Request
	host    map[string]string
	asked   map[string]bool
	dropped []Dropped
	// knobImage and knobUser are policy values a knob has set; knobLimits likewise, by name.
	knobImage  string
	knobUser   string
	knobLimits map[string]uint64
}

func denied(feature, format string, args ...any) *Failure {
	return Fail(Denied, format, args...).At(StepPlan).About(feature)
}

func environMap(environ []string) map[string]string {
	m := make(map[string]string, len(environ))
	for _, e := range environ {
		if name, value, ok := strings.Cut(e, "="); ok && name != "" {
			m[name] = value
		}
	}
	return m
}

func (r *resolver) ask(feature string) { r.asked[feature] = true }

func cmpOr(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// same reports whether two sinks are one and the same, without panicking on a type that cannot be compared.
func same(a, b any) bool {
	if a == nil || b == nil || a == Pipe {
		return false
	}
	ta, tb := reflect.TypeOf(a), reflect.TypeOf(b)
	return ta == tb && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// refusal says why a feature cannot be had, or nil.
func (r *resolver) refusal(name string) *Failure {
	f, ok := r.d.Feature(name)
	if !ok {
		return Fail(Unsupported, "%s is not known to the backend %s", name, r.d.Name).At(StepPlan).About(name).WithCure("generate the backend again with this version of sbxgen")
	}
	if f.How == HowUnsupported {
		return Fail(Unsupported, "%s: %s", name, f.Reason).At(StepPlan).About(name)
	}
	for _, a := range r.in.Identity.Absent {
		if a.Feature == name {
			u := Fail(Unsupported, "%s: %s", name, a.Why).At(StepPlan).About(name)
			u.Cure = a.Cure
			return u
		}
	}
	return nil
}

func (r *resolver) supported() error {
	for _, name := range slices.Sorted(maps.Keys(r.asked)) {
		if f := r.refusal(name); f != nil {
			return f
		}
	}
	return nil
}
