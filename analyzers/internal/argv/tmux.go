package argv

import (
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
)

// tmuxCommands are the tmux commands that take a shell command, with the options that take the next word.
var tmuxCommands = map[string]struct {
	valued string
	direct bool // more than one word is run without a shell
	keys   bool // the words are typed into whatever runs in the pane
}{
	"new-session":    {valued: "ceFfnstxy", direct: true},
	"new":            {valued: "ceFfnstxy", direct: true},
	"new-window":     {valued: "ceFnt", direct: true},
	"neww":           {valued: "ceFnt", direct: true},
	"split-window":   {valued: "ceFlpt", direct: true},
	"splitw":         {valued: "ceFlpt", direct: true},
	"respawn-pane":   {valued: "cet", direct: true},
	"respawnp":       {valued: "cet", direct: true},
	"respawn-window": {valued: "cet", direct: true},
	"respawnw":       {valued: "cet", direct: true},
	"display-popup":  {valued: "bcdehsStTwxy", direct: true},
	"popup":          {valued: "bcdehsStTwxy", direct: true},
	"run-shell":      {valued: "cdt"},
	"run":            {valued: "cdt"},
	"if-shell":       {valued: "t"},
	"if":             {valued: "t"},
	"pipe-pane":      {valued: "t"},
	"pipep":          {valued: "t"},
	"send-keys":      {valued: "cNt", keys: true},
	"send":           {valued: "cNt", keys: true},
}

// tmux finds the shell command in a call of tmux. Its -c is a directory.
func (c Command) tmux() (Code, bool) {
	i := 0
	for ; i < len(c.Args); i++ {
		option, ok := tmuxOption(c, i)
		if !ok {
			break
		}
		if strings.ContainsAny(option[len(option)-1:], "cfLST") {
			i++
		}
	}
	if i >= len(c.Args) {
		return Code{}, false
	}
	for _, name := range Texts(c.Args[i]) {
		cmd, ok := tmuxCommands[name]
		if !ok {
			continue
		}
		j := i + 1
		for ; j < len(c.Args); j++ {
			option, ok := tmuxOption(c, j)
			if !ok {
				break
			}
			if option == "--" {
				j++
				break
			}
			if strings.ContainsAny(option[len(option)-1:], cmd.valued) {
				j++
			}
		}
		words := c.Args[min(j, len(c.Args)):]
		if len(words) == 0 {
			continue
		}
		if _, spliced := Spliced(words[0]); spliced && len(Texts(words[0])) == 0 && len(words) == 1 {
			continue // nothing is known to be there
		}
		switch {
		case cmd.keys:
			if at := typed(words); at >= 0 {
				return c.codeAt(name, j+at), true
			}
		case cmd.direct && len(words) > 1:
			for _, inner := range commandsIn(nil, words, c.Index+1+j, append(c.Via[:len(c.Via):len(c.Via)], "tmux")) {
				if code, ok := inner.code(); ok {
					return code, true
				}
			}
		default:
			return c.codeAt(name, j), true
		}
	}
	return Code{}, false
}

func tmuxOption(c Command, i int) (string, bool) {
	for _, t := range Texts(c.Args[i]) {
		if len(t) > 1 && t[0] == '-' {
			return t, true
		}
	}
	return "", false
}

// typed returns the index of the first word that is text when the keys end with Enter; -1 when nothing is entered.
func typed(words []flow.Value) int {
	at, enter := -1, false
	for i, w := range words {
		key := false
		for _, t := range Texts(w) {
			switch {
			case t == "Enter" || t == "C-m" || t == "KPEnter" || t == "C-j":
				enter, key = true, true
			case strings.HasPrefix(t, "C-") || strings.HasPrefix(t, "M-") || t == "Escape" || t == "Tab" || t == "Space" || t == "BSpace" ||
				t == "Up" || t == "Down" || t == "Left" || t == "Right":
				key = true
			}
			if strings.HasSuffix(t, "\\n") || strings.HasSuffix(t, "\\r") {
				enter = true
			}
		}
		if !key && at < 0 {
			at = i
		}
	}
	if !enter {
		return -1
	}
	return at
}
