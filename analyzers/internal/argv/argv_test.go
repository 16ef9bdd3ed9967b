package argv

import (
	"strings"
	"testing"

	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
)

// list is an argument list of constants; "?" is a word of which nothing is known, and "..." any number of those.
func list(words string) flow.Value {
	var elems []flow.Value
	for _, w := range strings.Fields(words) {
		e := flow.Value{{Kind: flow.Str, Text: w}}
		switch w {
		case "?":
			e = flow.Value{{Kind: flow.Unknown}}
		case "...":
			e = flow.Value{{Kind: flow.Splice, Elems: []flow.Value{{{Kind: flow.Unknown}}}}}
		}
		elems = append(elems, e)
	}
	return flow.Value{{Kind: flow.List, Elems: elems}}
}

func TestCommands(t *testing.T) {
	for words, want := range map[string]string{
		"git status":                     "git",
		"/usr/bin/git":                   "git",
		"env A=b C=d sudo -u me sh -c x": "env, env sudo, env sudo sh",
		"timeout -k 5 10 make":           "timeout, timeout make",
		"nice -n10 docker ps":            "nice, nice docker",
		"sudo -- docker ps":              "sudo, sudo docker",
		"xargs -0 -n 1 podman":           "xargs, xargs podman",
		"busybox sh":                     "busybox, busybox sh",
		"make docker":                    "make",
		"sudo -u docker id":              "sudo, sudo id",
		"? docker":                       "",
		"sudo ... docker":                "sudo",
		"ssh host docker ps":             "ssh",
		"ssh -p 22 host sh -c x":         "ssh, ssh sh",
	} {
		var got []string
		for _, c := range Commands(list(words)) {
			got = append(got, strings.Join(append(c.Via, c.Name), " "))
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%q: %s, want %s", words, s, want)
		}
	}
	if got := Commands(flow.Value{{Kind: flow.Unknown}}); got != nil {
		t.Errorf("of nothing: %v", got)
	}
}

func TestFindCode(t *testing.T) {
	for words, want := range map[string]string{
		"sh -c ?":                          "sh -c",
		"bash -euo pipefail -c ?":          "bash -c",
		"bash -lc x":                       "bash -lc",
		"sh script -c x":                   "",
		"sh -- -c x":                       "",
		"bash -o pipefail script":          "",
		"sh -c":                            "",
		"sh ... -c x":                      "sh -c",
		"sh ...":                           "",
		"fish --command=ls":                "fish --command=ls",
		"python3 -c x":                     "python3 -c",
		"python3 -Ic x":                    "python3 -Ic",
		"python3 -m http -c x":             "",
		"perl -lne x":                      "perl -lne",
		"perl file -e x":                   "",
		"node --eval x":                    "node --eval",
		"node app -e x":                    "",
		"ruby -e x":                        "ruby -e",
		"osascript -e x":                   "osascript -e",
		"cmd /C x":                         "cmd /C",
		"cmd.exe /c x":                     "cmd /c",
		"powershell -NoProfile -Command x": "powershell -Command",
		"powershell -File x":               "",
		"tmux new -d x":                    "tmux new",
		"tmux new -c dir":                  "",
		"tmux send-keys -t p ls Enter":     "tmux send-keys",
		"tmux send-keys -t p C-c":          "",
		"tmux kill-session":                "",
		"watch ls":                         "watch",
		"su -c x":                          "su -c",
		"grep -c sh x":                     "",
		"tar -c -f x":                      "",
		"git -c a=b status":                "",
		"env -S sh":                        "",
	} {
		code, ok := FindCode(Commands(list(words)))
		got := ""
		if ok {
			got = strings.TrimSpace(code.Command.Name + " " + code.Option)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}

func TestTexts(t *testing.T) {
	word := flow.Value{{Kind: flow.Str, Text: "a"}, {Kind: flow.Unknown}, {Kind: flow.Str, Text: "b"}}
	if got := strings.Join(Texts(word), " "); got != "a b" {
		t.Errorf("got %q", got)
	}
	if !IsShell("dash") || IsShell("git") {
		t.Error("a shell is not told from another program")
	}
}
