package spec

import (
	"strings"
	"testing"
)

func TestDiffSaysWhatAReviewerCaresAbout(t *testing.T) {
	const head = "sbx: 1\nbackend: own\nextends: bwrap\npolicy:\n"
	const engine = "sbx: 1\nbackend: own\nextends: docker\npolicy:\n"
	for _, c := range []struct{ name, old, updated, want string }{
		{"nothing", head + "  workdir: /tmp\n", head + "  # a remark\n  workdir: \"/tmp\"\n", ""},
		{"a writable mount", head + "  workdir: /tmp\n", head + "  mounts: [{bind-rw: /srv, because: a test}]\n",
			"widens adds a writable mount: /srv"},
		{"a read-only mount", head + "  workdir: /tmp\n", head + "  mounts: [{bind-ro: /opt, target: /mnt}]\n",
			"widens adds a read-only mount: /opt at /mnt"},
		{"a mount that goes", head + "  mounts: [{bind-ro: /opt}]\n", head + "  workdir: /tmp\n",
			"tightens removes a read-only mount: /opt"},
		{"a mount that becomes writable", head + "  mounts: [{bind-ro: /opt}]\n", head + "  mounts: [{bind-rw: /opt, because: a test}]\n",
			"widens makes /opt a writable mount: /opt; it was a read-only mount: /opt"},
		{"a tmpfs", head + "  workdir: /tmp\n", head + "  mounts: [{tmpfs: /tmp, size: 64MiB, mode: '1777'}]\n",
			"tightens changes the size of /tmp from 1GiB to 64MiB"},
		{"hardening dropped", head + "  workdir: /tmp\n", head + "  hardening: {new-session: {level: off, because: job control}}\n",
			"widens drops new-session, which was required"},
		{"hardening preferred", head + "  workdir: /tmp\n", head + "  hardening: {capabilities: {level: preferred, because: a test}}\n",
			"widens only prefers capabilities, which was required"},
		{"hardening required", head + "  workdir: /tmp\n", head + "  hardening: {user-namespace-off: required}\n",
			"tightens requires user-namespace-off"},
		{"a limit raised", head + "  limits: {memory: 1GiB}\n", head + "  limits: {memory: 1536MiB}\n",
			"widens raises limits.memory from 1GiB to 1536MiB"},
		{"a limit lowered", head + "  limits: {cpus: 1.5}\n", head + "  limits: {cpus: 0.25}\n", "tightens lowers limits.cpus from 1.5 to 0.25"},
		{"a limit added", head + "  workdir: /tmp\n", head + "  limits: {cpu-time: 90s}\n",
			"tightens adds limits.cpu-time: 1m30s by default"},
		{"a limit removed", head + "  limits: {cpu-time: 90s}\n", head + "  workdir: /tmp\n",
			"widens removes limits.cpu-time, which was 1m30s by default"},
		{"the most of a limit", head + "  limits: {memory: {default: 1GiB, max: 2GiB}}\n", head + "  limits: {memory: {default: 1GiB, max: 4GiB}}\n",
			"widens raises the most a launch may ask of limits.memory from 2GiB to 4GiB"},
		{"a time-out", head + "  timeouts: {wall: 10m}\n", head + "  timeouts: {wall: 20m}\n", "widens raises timeouts.wall from 10m0s to 20m0s"},
		{"the environment", head + "  environment: {forward: [LANG], accept: [CI]}\n",
			head + "  environment: {forward: [LANG, TZ], accept: [TERM], deny: [CI]}\n",
			"widens forwards TZ from the host\nwidens lets a launch set TERM\ntightens no longer lets a launch set CI\ntightens denies CI"},
		{"a variable", head + "  environment: {set: {HOME: /a}}\n", head + "  environment: {set: {HOME: /b}}\n",
			`changes sets HOME to "/b", which was "/a"`},
		{"the network", head + "  workdir: /tmp\n", head + "  network: {default: host, accept: [host], because: a test}\n",
			"widens makes host the default network, which was none\ntightens no longer allows the network none\ntightens no longer allows the network egress"},
		{"a credential", head + "  workdir: /tmp\n", head + "  credentials: {token: {file: /run/token}}\n",
			"widens delivers the credential token as file /run/token (0400)"},
		{"a knob", head + "  workdir: /tmp\n", head + "  knobs: [{env: MY_FILES, sets: limits.open-files}]\n",
			"widens lets MY_FILES set limits.open-files"},
		{"a socket", head + "  workdir: /tmp\n", head + "  sockets: [{path: /run/docker.sock, because: a test}]\n",
			"widens allows a mount of the host's socket /run/docker.sock"},
		{"an image that is fetched", engine + "  workdir: /tmp\n", engine + "  workdir: /tmp\n  image: {pull: always, because: a test}\n",
			"widens fetches images always, which was never"},
		{"a refused feature", engine + "  workdir: /tmp\n", engine + "  workdir: /tmp\ndialect: {unsupported: {mount.device: no devices here}}\n",
			"changes removes the words \"--device <source>:<target>:rwm\" = HostConfig.Devices for mount.device\n" +
				"tightens refuses mount.device: no devices here"},
		{"a claim in place of words", head + "  workdir: /tmp\n",
			head + "  workdir: /tmp\ndialect: {because: a test, implied: {hardening.pid-namespace: trust me}}\n",
			"widens takes hardening.pid-namespace for granted instead of asking for it: trust me\n" +
				"changes removes the words \"--unshare-pid\" for hardening.pid-namespace"},
		{"the stop ladder", head + "  workdir: /tmp\n", head + "  workdir: /tmp\nlifecycle: {because: a test, stop: [{kill: true, grace: 1s}]}\n",
			"changes changes lifecycle.stop from TERM, kill (10s) to kill (1s)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			load := func(text string) *Backend {
				b, diagnostics := Load("own.yaml", inMemory(map[string]string{"own.yaml": text}))
				if len(diagnostics) > 0 {
					t.Fatal(diagnostics)
				}
				return b
			}
			var got []string
			for _, change := range Diff(load(c.old), load(c.updated)) {
				got = append(got, string(change.Kind)+" "+change.Text)
				if !strings.Contains(change.Where, ".yaml:") {
					t.Errorf("%s has no place: %q", change.Text, change.Where)
				}
			}
			if text := strings.Join(got, "\n"); text != c.want {
				t.Errorf("got\n%s\nwant\n%s", text, c.want)
			}
		})
	}
}

func TestDiffShowsAnotherOrderOfWords(t *testing.T) {
	text, err := readFixture("good/tool.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const one, two = "    - {flag: --pid, for: hardening.pid-namespace}\n", "    - {flag: --net, for: network.none, since: '1.2'}\n"
	swapped := strings.Replace(string(text), one+two, two+one, 1)
	if swapped == string(text) {
		t.Fatal("the fixture has other lines than this test swaps")
	}
	files := inMemory(map[string]string{"old.yaml": string(text), "new.yaml": swapped})
	old, diagnostics := Load("old.yaml", files)
	if len(diagnostics) > 0 {
		t.Fatal(diagnostics)
	}
	updated, diagnostics := Load("new.yaml", files)
	if len(diagnostics) > 0 {
		t.Fatal(diagnostics)
	}
	changes := Diff(old, updated)
	if len(changes) != 1 || !strings.HasPrefix(changes[0].Text, "changes the order of words from ") {
		t.Errorf("got %v", changes)
	}
}
