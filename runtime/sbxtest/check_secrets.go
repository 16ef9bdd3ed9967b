package sbxtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// canaries are values that must stay hidden, planted in a launch in every way there is.
type canaries struct {
	c       *C
	values  []string
	launch  runtime.Launch
	environ []string
}

func (c *C) canaries(p ...Act) *canaries {
	k := &canaries{c: c, launch: c.launch(p...)}
	plant := func(prefix string) string {
		v := word(prefix)
		k.values = append(k.values, v)
		return v
	}
	k.launch.Env.Set = map[string]string{"CI": plant("canary-set-")}
	k.environ = []string{"LC_TIME=" + plant("canary-forward-")}
	k.launch.Env.Forward = []string{"LC_TIME"}
	k.launch.Credentials = map[string]runtime.Credential{}
	for _, r := range c.subject.Backend.Describe().Policy.Credentials {
		k.launch.Credentials[r.Role] = runtime.Credential{Value: []byte(plant("canary-" + r.Role + "-"))}
	}
	if c.supports("mount.file") {
		k.launch.Mounts = []runtime.Mount{{Kind: runtime.MountFile, Target: "/run/sbx/sbxtest-config", Data: []byte(plant("canary-file-"))}}
	}
	return k
}

func (k *canaries) stand(h Hooks) *stand { return k.c.stand(setting{hooks: h, environ: k.environ}) }

// absent checks that no canary stands in a text; the message does not show it either.
func (k *canaries) absent(where string, text []byte) {
	for _, v := range k.values {
		if bytes.Contains(text, []byte(v)) {
			k.c.Errorf("%s shows the value of %s", where, strings.TrimRight(v, "0123456789abcdef"))
		}
	}
}

// text is v as JSON and as Go's formats print it.
func text(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		b = []byte(err.Error())
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		b = fmt.Appendf(b, verb, v)
	}
	return b
}

func secretChecks() []Check {
	return []Check{
		check("a plan shows no private value, by any verb", ruleSecret, func(c *C) {
			k := c.canaries(say("x"))
			p := k.stand(Hooks{}).plan(k.launch)
			k.absent("a printed plan", text(p))
			j, err := p.JSON()
			c.must(err, "writing the plan")
			k.absent("a plan's JSON", j)
			k.absent("a plan's words", text(p.Words))
			k.absent("a plan's claims", text(p.Claims))
		}),
		check("a digest does not depend on private values", ruleSecret, func(c *C) {
			a, b := c.canaries(say("x")), c.canaries(say("x"))
			// The content of a file is part of what runs; the others are values of one launch.
			a.launch.Mounts, b.launch.Mounts = nil, nil
			if a.stand(Hooks{}).plan(a.launch).Digest() != b.stand(Hooks{}).plan(b.launch).Digest() {
				c.Errorf("two values have two digests")
			}
		}),
		check("labels and tokens hold no private value", ruleSecret, func(c *C) {
			k := c.canaries(say("x"))
			p := k.stand(Hooks{}).plan(k.launch)
			k.absent("the labels", text(p.Request.Labels))
			k.absent("the kill token", text(p.Token))
			r := k.stand(Hooks{}).start(k.launch)
			k.absent("the token of a run", text(r.Token()))
			<-r.Done()
			k.absent("the token of a run that has ended", text(r.Token()))
		}),
		check("no process shows a private value in its argv", ruleSecret, func(c *C) {
			k := c.canaries(say("up"), act(DoHang))
			k.launch.Ready = &runtime.Ready{Line: "up"}
			st := k.stand(Hooks{})
			r := st.start(k.launch)
			paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
			if err != nil || len(paths) == 0 {
				c.Gap("this host shows no processes")
			}
			for _, p := range paths {
				if b, err := os.ReadFile(p); err == nil {
					k.absent(p, b)
				}
			}
			d := c.subject.Backend.Describe()
			if d.Kind != "process" || d.Name == "local" {
				k.absent("the argv of the plan", text(r.Plan().Argv()))
			}
			st.end(r)
		}, "ready.line"),
		check("the journal holds no private value", ruleSecret, func(c *C) {
			k := c.canaries(say("x"))
			st := k.stand(Hooks{})
			_, _ = st.run(k.launch)
			if len(st.journal.written()) == 0 {
				c.Errorf("the journal has no record")
			}
			k.absent("the journal", text(st.journal.written()))
		}),
		check("events tell no private value", ruleSecret, func(c *C) {
			k := c.canaries(say("x"))
			st := k.stand(Hooks{})
			_, _ = st.run(k.launch)
			k.absent("the events", text(st.events.all()))
			for _, e := range st.events.all() {
				if e.Result != nil {
					k.absent("the result of the last event", text(e.Result))
				}
			}
		}),
		check("a result shows no private value", ruleSecret, func(c *C) {
			k := c.canaries(say("x"))
			res, err := k.stand(Hooks{}).run(k.launch)
			c.must(err, "running")
			k.absent("the result", text(res))
			k.absent("the facts", text(res.Facts))
		}),
		check("errors show no private value", ruleSecret, func(c *C) {
			for name, change := range map[string]func(*canaries, *runtime.Launch){
				"a name that is not accepted": func(k *canaries, l *runtime.Launch) { l.Env.Set = map[string]string{"LD_PRELOAD": k.values[0]} },
				"a value with a NUL byte":     func(k *canaries, l *runtime.Launch) { l.Env.Set = map[string]string{"CI": k.values[0] + "\x00"} },
				"a role that is not declared": func(k *canaries, l *runtime.Launch) {
					l.Credentials = map[string]runtime.Credential{"sbxtest-undeclared": {Value: []byte(k.values[0])}}
				},
				"a program that is not there":   func(_ *canaries, l *runtime.Launch) { l.Argv = []string{"/no/such/program"} },
				"a workspace that is not there": func(_ *canaries, l *runtime.Launch) { l.Workspace = &runtime.Workspace{Source: "/no/such/workspace"} },
			} {
				k := c.canaries(say("x"))
				change(k, &k.launch)
				_, err := k.stand(Hooks{}).run(k.launch)
				if err == nil {
					c.Errorf("%s: no error", name)
					continue
				}
				k.absent("the error of "+name, text(err))
			}
		}),
		check("errors of every step show no private value", ruleSecret, func(c *C) {
			for _, step := range []runtime.Step{runtime.StepPrepare, runtime.StepStage, runtime.StepStart} {
				k := c.canaries(say("x"))
				res, err := k.stand(refuser(step, false, runtime.Fail(runtime.Setup, "not today"))).run(k.launch)
				k.absent("the error of "+string(step), text(err))
				k.absent("the result of "+string(step), text(res))
			}
		}),
		check("what is found on the engine holds no private value", ruleSecret, func(c *C) {
			k := c.canaries(say("up"), act(DoHang))
			k.launch.Ready = &runtime.Ready{Line: "up"}
			st := k.stand(Hooks{})
			r := st.start(k.launch)
			k.absent("what is found", text(st.found()))
			st.end(r)
		}, "ready.line"),
		check("the command gets the values that nobody else sees", ruleCredentials, func(c *C) {
			k := c.canaries(act(DoEnviron))
			k.launch.Mounts = nil
			got := k.stand(Hooks{}).ok(k.launch)
			for i, v := range k.values[:2] {
				if !strings.Contains(got, v) {
					c.Errorf("the command did not get value %d", i)
				}
			}
		}),
		check("the driver's copies of credentials are zeroed at the end", ruleSecret, func(c *C) {
			r := c.role(func(runtime.CredentialRule) bool { return true })
			given := []byte(word("canary-"))
			kept := slices.Clone(given)
			l := c.launch(say("x"))
			l.Credentials = map[string]runtime.Credential{r.Role: {Value: given}}
			st := c.plain()
			run := st.start(l)
			_, _ = st.wait(run)
			for _, g := range run.Plan().Request.Credentials {
				if len(bytes.Trim(g.Value, "\x00")) > 0 {
					c.Errorf("the copy of role %s still has its value", g.Role)
				}
			}
			if !bytes.Equal(given, kept) {
				c.Errorf("the caller's own value was changed")
			}
		}),
	}
}
