package argv

import (
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
)

// A Command is a program and its arguments, as one possible reading of an argument list.
type Command struct {
	Prog  flow.Alt // the word that names the program
	Name  string   // its base name; "env:NAME" when it comes from that environment variable
	Args  []flow.Value
	Index int      // of the program in the list
	Via   []string // the prefixes before it, outermost first
}

// maxReadings bounds the readings of one list.
const maxReadings = 256

// Commands returns the commands that the argument lists among v's alternatives run: the list's own, and those behind prefixes.
func Commands(v flow.Value) []Command {
	var out []Command
	for _, a := range v {
		if a.Kind == flow.List {
			out = commandsIn(out, a.Elems, 0, nil)
		}
	}
	return out
}

func commandsIn(out []Command, words []flow.Value, index int, via []string) []Command {
	if len(words) == 0 || len(via) > 6 {
		return out
	}
	first := words[0]
	if list, ok := Spliced(first); ok {
		first = list.Element()
	}
	for _, alt := range first {
		name, ok := alt.BaseName()
		if alt.Kind == flow.Tag {
			name, ok = alt.Text, true
		}
		if !ok {
			continue
		}
		if len(out) >= maxReadings {
			return out
		}
		out = append(out, Command{Prog: alt, Name: name, Args: words[1:], Index: index, Via: via})
		out = behind(out, name, words[1:], index+1, via)
	}
	return out
}

// Spliced returns the list whose elements stand in place of the word, if the word is such.
func Spliced(word flow.Value) (flow.Value, bool) {
	if len(word) == 1 && word[0].Kind == flow.Splice {
		return word[0].Elems[0], true
	}
	return nil, false
}

// Texts returns the constants the word may be, those inside a splice included.
func Texts(word flow.Value) []string {
	var out []string
	for _, a := range constants(word) {
		out = append(out, a.Text)
	}
	return out
}

// constants returns the alternatives that Texts names.
func constants(word flow.Value) []flow.Alt {
	if list, ok := Spliced(word); ok {
		word = list.Element()
	}
	var out []flow.Alt
	for _, a := range word {
		if a.Kind == flow.Str {
			out = append(out, a)
		}
	}
	return out
}

// A prefix is a program that runs the command in its arguments.
type prefix struct {
	valued     string   // short options that take the next word
	long       []string // long options that take the next word
	positional int      // words of its own before the command
	assigns    bool     // NAME=value words may come before the command
	anywhere   bool     // its grammar is not worth telling: any later word that names a shell counts
}

var prefixes = map[string]prefix{
	"env":         {valued: "uC", long: []string{"--unset", "--chdir"}, assigns: true},
	"sudo":        {valued: "ugpCThrtDRU", long: []string{"--user", "--group", "--prompt", "--host", "--role", "--type", "--chdir", "--chroot"}, assigns: true},
	"doas":        {valued: "uC"},
	"nice":        {valued: "n", long: []string{"--adjustment"}},
	"ionice":      {valued: "cn", long: []string{"--class", "--classdata"}},
	"chrt":        {valued: "TPD", positional: 1},
	"taskset":     {positional: 1},
	"nohup":       {},
	"setsid":      {},
	"timeout":     {valued: "ks", long: []string{"--kill-after", "--signal"}, positional: 1},
	"gtimeout":    {valued: "ks", long: []string{"--kill-after", "--signal"}, positional: 1},
	"stdbuf":      {valued: "ioe", long: []string{"--input", "--output", "--error"}},
	"time":        {valued: "fo", long: []string{"--format", "--output"}},
	"xargs":       {valued: "aEILnPsd", long: []string{"--arg-file", "--delimiter", "--max-lines", "--max-args", "--max-procs", "--max-chars", "--replace"}},
	"chroot":      {long: []string{"--userspec", "--groups"}, positional: 1},
	"setpriv":     {long: []string{"--reuid", "--regid", "--groups", "--pdeathsig", "--inh-caps", "--bounding-set", "--ambient-caps"}},
	"catchsegv":   {},
	"caffeinate":  {valued: "tw"},
	"exec":        {valued: "a"},
	"command":     {},
	"busybox":     {},
	"toybox":      {},
	"unbuffer":    {},
	"dumb-init":   {},
	"tini":        {valued: "pe"},
	"fakeroot":    {valued: "lsifb"},
	"ssh":         {anywhere: true},
	"autossh":     {anywhere: true},
	"mosh":        {anywhere: true},
	"sshpass":     {anywhere: true},
	"docker":      {anywhere: true},
	"podman":      {anywhere: true},
	"nerdctl":     {anywhere: true},
	"kubectl":     {anywhere: true},
	"oc":          {anywhere: true},
	"bwrap":       {anywhere: true},
	"firejail":    {anywhere: true},
	"nsjail":      {anywhere: true},
	"runc":        {anywhere: true},
	"crun":        {anywhere: true},
	"lxc":         {anywhere: true},
	"lxc-attach":  {anywhere: true},
	"incus":       {anywhere: true},
	"machinectl":  {anywhere: true},
	"systemd-run": {anywhere: true},
	"unshare":     {anywhere: true},
	"nsenter":     {anywhere: true},
	"strace":      {anywhere: true},
	"ltrace":      {anywhere: true},
	"flock":       {anywhere: true},
	"find":        {anywhere: true},
	"fd":          {anywhere: true},
	"parallel":    {anywhere: true},
	"watch":       {anywhere: true},
	"wsl":         {anywhere: true},
	"limactl":     {anywhere: true},
	"colima":      {anywhere: true},
	"multipass":   {anywhere: true},
	"vagrant":     {anywhere: true},
	"gcloud":      {anywhere: true},
	"adb":         {anywhere: true},
	"start":       {anywhere: true},
	"xterm":       {anywhere: true},
	"su":          {anywhere: true},
	"runuser":     {anywhere: true},
	"script":      {anywhere: true},
	"expect":      {anywhere: true},
}

// behind adds the commands that the prefix called name runs.
func behind(out []Command, name string, words []flow.Value, index int, via []string) []Command {
	p, ok := prefixes[name]
	if !ok {
		return out
	}
	via = append(via[:len(via):len(via)], name)
	if p.anywhere {
		return scan(out, words, index, via)
	}
	left := p.positional
	for i := 0; i < len(words); i++ {
		list, spliced := Spliced(words[i])
		texts := Texts(words[i])
		if spliced {
			if list.Has(flow.Many) {
				// Any number of options, or the command itself.
				out = commandsIn(out, words[i:], index+i, via)
				continue
			}
			return scan(out, words[i:], index+i, via)
		}
		option := ""
		for _, t := range texts {
			if len(t) > 1 && t[0] == '-' {
				option = t
			}
		}
		switch {
		case option == "--":
			i += left
			if i+1 < len(words) {
				return commandsIn(out, words[i+1:], index+i+1, via)
			}
			return out
		case option == "-S" || option == "--split-string":
			if name == "env" && i+1 < len(words) {
				return split(out, words[i+1], words[i+2:], index+i+1, via)
			}
		case strings.HasPrefix(option, "-S") && name == "env":
			return split(out, flow.Value{{Kind: flow.Str, Text: option[2:]}}, words[i+1:], index+i, via)
		case strings.HasPrefix(option, "--split-string=") && name == "env":
			return split(out, flow.Value{{Kind: flow.Str, Text: option[len("--split-string="):]}}, words[i+1:], index+i, via)
		case strings.HasPrefix(option, "--"):
			for _, l := range p.long {
				if option == l {
					i++
				}
			}
		case option != "":
			// A cluster takes the next word when its last letter is one that does.
			if strings.IndexByte(p.valued, option[len(option)-1]) >= 0 && strings.IndexByte(p.valued, option[1]) >= 0 == (len(option) == 2) {
				i++
			}
		case p.assigns && isAssignment(words[i]):
		case left > 0:
			left--
		default:
			return commandsIn(out, words[i:], index+i, via)
		}
	}
	return out
}

// IsPrefix reports whether the program of that base name runs the command in its arguments.
func IsPrefix(name string) bool { _, ok := prefixes[name]; return ok }

func isAssignment(word flow.Value) bool {
	for _, a := range word {
		text := a.Text
		if a.Kind == flow.Concat && len(a.Elems[0]) == 1 && a.Elems[0][0].Kind == flow.Str {
			text = a.Elems[0][0].Text
		}
		if strings.IndexByte(text, '=') > 0 {
			return true
		}
	}
	return false
}

// split reads a string of words, as env -S does.
func split(out []Command, text flow.Value, rest []flow.Value, index int, via []string) []Command {
	for _, a := range constants(text) {
		var words []flow.Value
		for _, w := range strings.Fields(a.Text) {
			a.Text = w // and it keeps where it comes from
			words = append(words, flow.Value{a})
		}
		out = commandsIn(out, append(words, rest...), index, via)
	}
	return out
}

// scan adds a command for every word that names a shell or another prefix, whatever stands before it.
func scan(out []Command, words []flow.Value, index int, via []string) []Command {
	for i, w := range words {
		if _, ok := Spliced(w); ok && i == 0 && len(words) == 1 {
			return out
		}
		for _, a := range constants(w) {
			fields := strings.Fields(a.Text)
			if len(fields) > 1 && IsShell(base(fields[0])) {
				// One string with the whole command, as ssh takes it.
				out = split(out, flow.Value{a}, words[i+1:], index+i, via)
				continue
			}
			if name := base(a.Text); IsShell(name) || prefixes[name].positional > 0 || name == "env" || name == "sudo" {
				if len(out) < maxReadings {
					out = commandsIn(out, append([]flow.Value{{a}}, words[i+1:]...), index+i, via)
				}
			}
		}
	}
	return out
}

func base(s string) string {
	name, _ := (flow.Alt{Kind: flow.Str, Text: s}).BaseName()
	return name
}
