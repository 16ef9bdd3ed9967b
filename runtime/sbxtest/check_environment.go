package sbxtest

import (
	"slices"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// inside runs a command that shows its environment and gives what it says, by name.
func (c *C) inside(environ []string, change func(*runtime.Launch)) map[string]string {
	l := c.launch(act(DoEnviron))
	if change != nil {
		change(&l)
	}
	got := map[string]string{}
	for _, line := range linesOf(c.stand(setting{environ: environ}).ok(l)) {
		if name, value, ok := strings.Cut(line, "="); ok {
			got[name] = value
		}
	}
	return got
}

// role finds a credential role that is delivered in the way that is asked for.
func (c *C) role(ok func(runtime.CredentialRule) bool) runtime.CredentialRule {
	rules := c.subject.Backend.Describe().Policy.Credentials
	i := slices.IndexFunc(rules, ok)
	if i < 0 {
		c.Gap("the policy declares no credential that is delivered so")
	}
	return rules[i]
}

func environmentChecks() []Check {
	want := func(c *C, got map[string]string, name, value string) {
		if v, ok := got[name]; !ok || v != value {
			c.Errorf("%s is %q (there: %v), want %q", name, v, ok, value)
		}
	}
	gone := func(c *C, got map[string]string, name string) {
		if v, ok := got[name]; ok {
			c.Errorf("%s is there, with %q", name, v)
		}
	}
	return []Check{
		check("a value given for an accepted name is there", ruleEnvironment, func(c *C) {
			want(c, c.inside(nil, set("CI", "a value")), "CI", "a value")
		}, "environment.set"),
		check("a value keeps quotes, dollars and other letters", ruleEnvironment, func(c *C) {
			v := `it's "$HOME" \n ü €`
			want(c, c.inside(nil, set("CI", v)), "CI", v)
		}, "environment.set"),
		check("an empty value is there and empty", ruleEnvironment, func(c *C) {
			want(c, c.inside(nil, set("CI", "")), "CI", "")
		}, "environment.set"),
		check("a forwarded name has the host's value", ruleEnvironment, func(c *C) {
			got := c.inside([]string{"CI=from the host"}, func(l *runtime.Launch) { l.Env.Forward = []string{"CI"} })
			want(c, got, "CI", "from the host")
		}, "environment.forward"),
		check("a pattern forwards what it matches", ruleEnvironment, func(c *C) {
			got := c.inside([]string{"LC_CTYPE=a", "LC_TIME=b"}, func(l *runtime.Launch) { l.Env.Forward = []string{"LC_*"} })
			want(c, got, "LC_CTYPE", "a")
			want(c, got, "LC_TIME", "b")
		}, "environment.forward"),
		check("a name that is not forwarded stays outside", ruleEnvironment, func(c *C) {
			got := c.inside([]string{"CI=host", "SBXTEST_SECRET=x", "AWS_SECRET_ACCESS_KEY=y"}, nil)
			gone(c, got, "CI")
			gone(c, got, "SBXTEST_SECRET")
			gone(c, got, "AWS_SECRET_ACCESS_KEY")
		}),
		check("a pattern forwards nothing the policy does not accept", ruleEnvironment, func(c *C) {
			got := c.inside([]string{"SBXTEST_A=x", "CI=1"}, func(l *runtime.Launch) { l.Env.Forward = []string{"*"} })
			gone(c, got, "SBXTEST_A")
			want(c, got, "CI", "1")
		}, "environment.forward"),
		check("a denied name is not there, whoever sets it", ruleEnvironment, func(c *C) {
			got := c.inside([]string{"LC_ALL=host"}, func(l *runtime.Launch) {
				l.Env.Set = map[string]string{"CI": "1"}
				l.Env.Forward, l.Env.Deny = []string{"LC_ALL"}, []string{"CI", "LC_*"}
			})
			gone(c, got, "CI")
			gone(c, got, "LC_ALL")
		}, "environment.deny"),
		check("the linker's variables of the host stay outside", ruleEnvironment, func(c *C) {
			got := c.inside([]string{"LD_PRELOAD=", "LD_AUDIT="}, nil)
			gone(c, got, "LD_PRELOAD")
			gone(c, got, "LD_AUDIT")
		}),
		check("what the policy sets is there", ruleEnvironment, func(c *C) {
			got := c.inside(nil, nil)
			for _, v := range c.subject.Backend.Describe().Policy.Environment.Set {
				want(c, got, v.Name, v.Value)
			}
		}),
		check("the command has no variable that the plan does not have", ruleEnvironment, func(c *C) {
			l := c.launch(act(DoEnviron))
			st := c.stand(setting{environ: []string{"SBXTEST_X=1", "TZ=UTC"}})
			var planned []string
			for _, v := range st.plan(l).Request.Env {
				planned = append(planned, v.Name)
			}
			// A shell sets the first line's itself; an engine, and the image, the second's.
			planned = append(planned, "PWD", "OLDPWD", "SHLVL", "_", "IFS", "OPTIND", "PS1", "PS2", "PS4", "PPID",
				"PATH", "HOME", "HOSTNAME", "TERM", "container", "UID", "EUID", "GID")
			for _, line := range linesOf(st.ok(l)) {
				if name, _, ok := strings.Cut(line, "="); ok && !slices.Contains(planned, name) {
					c.Errorf("the command has %s, and the plan has not", name)
				}
			}
		}),
		check("directories are put before PATH", ruleEnvironment, func(c *C) {
			l := c.launch(act(DoEnviron))
			l.Env.Path.Prepend = []string{"/opt/one", "/opt/two"}
			got := c.inside(nil, func(m *runtime.Launch) { m.Env.Path = l.Env.Path })
			if !strings.HasPrefix(got["PATH"], "/opt/one:/opt/two:") || !strings.Contains(got["PATH"], "bin") {
				c.Errorf("PATH is %q", got["PATH"])
			}
		}, "environment.path"),
		check("a PATH that is given is PATH", ruleEnvironment, func(c *C) {
			v := "/opt/x:/usr/local/bin:/usr/bin:/bin"
			want(c, c.inside(nil, func(l *runtime.Launch) { l.Env.Path.Set = v }), "PATH", v)
		}, "environment.path"),
		check("a credential by variable reaches the command", ruleCredentials, func(c *C) {
			r, v := c.role(func(r runtime.CredentialRule) bool { return r.Env != "" }), word("secret-")
			got := c.inside(nil, func(l *runtime.Launch) { l.Credentials = map[string]runtime.Credential{r.Role: {Value: []byte(v)}} })
			want(c, got, r.Env, v)
		}, "credentials.env"),
		check("a credential by file reaches the command, and its environment does not have it", ruleCredentials, func(c *C) {
			r, v := c.role(func(r runtime.CredentialRule) bool { return r.File != "" }), word("secret-")
			l := c.launch(read(r.File), say(""), act(DoEnviron))
			l.Credentials = map[string]runtime.Credential{r.Role: {Value: []byte(v)}}
			got := c.plain().ok(l)
			if !strings.HasPrefix(got, v) || strings.Count(got, v) != 1 {
				c.Errorf("the file shows %q", strings.ReplaceAll(got, v, "[the credential]"))
			}
		}, "credentials.file"),
		check("a role that is not given is not there", ruleCredentials, func(c *C) {
			got := c.inside([]string{"ANTHROPIC_API_KEY=host"}, nil)
			for _, r := range c.subject.Backend.Describe().Policy.Credentials {
				if r.Env != "" {
					gone(c, got, r.Env)
				}
			}
		}),
	}
}
