package spec

import (
	"strings"
	"testing"
)

func TestExplainGivesWordsFieldsAndPolicy(t *testing.T) {
	for _, c := range []struct {
		backend, name string
		want          []string // lines it holds
	}{
		{"bwrap", "hardening.pid-namespace", []string{"hardening.pid-namespace: The command sees only its own processes.",
			"asked for by   Launch.Hardening.PIDNamespace", "spelled        --unshare-pid  (bwrap.yaml:", "policy         required  (bwrap.yaml:"}},
		{"bwrap", "mount.tmpfs", []string{"spelled        [--size <size>]  since 0.7.0  (bwrap.yaml:", "spelled        --tmpfs <target>  (bwrap.yaml:",
			"policy         every run gets a tmpfs of 1GiB: /tmp"}},
		{"bwrap", "limits.memory", []string{"done by        cgroup, a control group of the run"}},
		{"bwrap", "ready.health", []string{"unsupported    a process has no health check"}},
		{"bwrap", "environment", []string{"spelled        --setenv <name> <value> …", "policy         HOME=/tmp"}},
		{"docker", "limits.open-files", []string{"spelled        --ulimit nofile=<soft>:<hard>  = HostConfig.Ulimits",
			"policy         1024 by default, at most 4096"}},
		{"docker", "command", []string{"spelled        --entrypoint <word>  = Config.Entrypoint", "spelled        <word> …  = Config.Cmd"}},
		{"docker", "mount.bind-ro", []string{"spelled        --mount type=bind,source=<source>,target=<target>,readonly  = HostConfig.Mounts"}},
		{"docker", "--tty", []string{"terminal: A private pseudo-terminal."}},
		{"docker", "network", []string{"network.none:", "network.dns:", "policy         the default"}},
	} {
		t.Run(c.backend+" "+c.name, func(t *testing.T) {
			b, err := Builtin(c.backend)
			if err != nil {
				t.Fatal(err)
			}
			xs, err := Explain(b, c.name)
			if err != nil {
				t.Fatal(err)
			}
			var text strings.Builder
			for _, x := range xs {
				text.WriteString(x.String())
			}
			for _, want := range c.want {
				if !strings.Contains(text.String(), want) {
					t.Errorf("no %q in\n%s", want, text.String())
				}
			}
		})
	}
}

func TestExplainSuggestsANearName(t *testing.T) {
	b, err := Builtin("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"limits.memry": "limits.memory", "--unshare-pd": "--unshare-pid"} {
		if _, err := Explain(b, name); err == nil || !strings.Contains(err.Error(), `did you mean "`+want+`"?`) {
			t.Errorf("explaining %s gives %v", name, err)
		}
	}
}

func TestExplainOfNothingIsTheWholeVocabulary(t *testing.T) {
	b, err := Builtin("fake")
	if err != nil {
		t.Fatal(err)
	}
	xs, err := Explain(b, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(xs) != len(Vocabulary()) {
		t.Errorf("%d explanations, want %d", len(xs), len(Vocabulary()))
	}
}
