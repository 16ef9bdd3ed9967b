package argv

import (
	"regexp"
	"strings"

	"github.com/sbxkit/sbxkit/analyzers/internal/flow"
)

var shells = map[string]bool{
	"sh": true, "ash": true, "bash": true, "rbash": true, "dash": true, "zsh": true, "ksh": true, "ksh93": true, "mksh": true, "oksh": true,
	"pdksh": true, "yash": true, "fish": true, "csh": true, "tcsh": true, "elvish": true, "nu": true, "xonsh": true, "osh": true, "rc": true,
	"env:SHELL": true,
}

// IsShell reports whether a program of that base name is a command shell of the Unix kind.
func IsShell(name string) bool { return shells[name] }

// Code says that a command hands program text to an interpreter.
type Code struct {
	Command Command
	Option  string     // the option that takes the text, "" when it is a plain argument
	Text    flow.Value // the text
	At      int        // index of the text among the command's arguments, -1 when the option word holds it
}

// FindCode returns the first of the commands that hands text to a shell or another interpreter.
func FindCode(commands []Command) (Code, bool) {
	for _, c := range commands {
		if code, ok := c.code(); ok {
			return code, true
		}
	}
	return Code{}, false
}

var (
	python = regexp.MustCompile(`^(python|pypy|jython|ipython)[0-9.]*w?$`)
	perl   = regexp.MustCompile(`^perl[0-9.]*$`)
	ruby   = regexp.MustCompile(`^j?ruby[0-9.]*$`)
	php    = regexp.MustCompile(`^php[0-9.]*$`)
	lua    = regexp.MustCompile(`^lua(jit)?[0-9.]*$`)
)

func (c Command) code() (Code, bool) {
	name := c.Name
	lower := strings.ToLower(name)
	switch {
	case IsShell(name):
		return c.options(grammar{code: shellCode, valued: shellValued, plus: true})
	case python.MatchString(name):
		return c.options(grammar{code: clusterWith("c", "WXm"), valued: is("-W", "-X"), stop: is("-m")})
	case perl.MatchString(name):
		return c.options(grammar{code: clusterWith("eE", "iIMmFxCDV0"), valued: is("-I")})
	case ruby.MatchString(name):
		return c.options(grammar{code: clusterWith("e", "iIrFxCEKT0"), valued: is("-I", "-r", "-C", "-E")})
	case name == "node" || name == "nodejs" || name == "bun":
		return c.options(grammar{code: nodeCode, valued: is("-r", "--require", "--import", "-C", "--conditions")})
	case php.MatchString(name):
		return c.options(grammar{code: text("-r", "--run", "-B", "-R", "-E"), valued: is("-d", "-c", "-z")})
	case lua.MatchString(name):
		return c.options(grammar{code: text("-e"), valued: is("-l")})
	case name == "Rscript" || name == "julia" || name == "elixir" || name == "erl" || name == "groovy" || name == "scala" || name == "ghc":
		return c.options(grammar{code: text("-e", "--eval", "-E", "-eval")})
	case name == "deno":
		return c.subcommand("eval")
	case name == "osascript":
		return c.options(grammar{code: text("-e"), valued: is("-l", "-s")})
	case name == "expect":
		return c.options(grammar{code: text("-c")})
	case name == "su" || name == "runuser":
		return c.options(grammar{code: text("-c", "--command", "--session-command"), valued: is("-s", "-g", "-G", "-w", "-u"), through: true})
	case name == "script":
		return c.options(grammar{code: text("-c", "--command", "-qc", "-qec", "-ec", "-efqc", "-eqc"), valued: is("-E", "-I", "-O", "-B", "-T", "-m", "-o"), through: true})
	case name == "flock":
		return c.options(grammar{code: text("-c", "--command"), valued: is("-w", "-E"), through: true})
	case name == "npx" || name == "npm":
		return c.options(grammar{code: text("-c", "--call"), through: true})
	case name == "nix-shell":
		return c.options(grammar{code: text("--run", "--command"), through: true})
	case name == "watch":
		return c.watch()
	case name == "tmux":
		return c.tmux()
	case lower == "cmd" || name == "env:COMSPEC" || name == "env:ComSpec":
		return c.options(grammar{code: windowsCode, slash: true, through: true})
	case lower == "powershell" || lower == "pwsh":
		return c.options(grammar{code: powershellCode, valued: powershellValued, slash: true, stop: powershellFile, bare: lower == "powershell"})
	}
	return Code{}, false
}

// A grammar tells how a program reads its options.
type grammar struct {
	code    func(option string) (text bool, inline string) // the option takes program text; inline when the word holds it
	valued  func(option string) bool                       // the option takes the next word
	stop    func(option string) bool                       // what follows is no option of the program
	plus    bool                                           // options may start with + too
	slash   bool                                           // options may start with / too
	through bool                                           // plain words do not end the options
	bare    bool                                           // a plain word is program text
}

// options walks the arguments until it finds program text or a plain word.
func (c Command) options(g grammar) (Code, bool) {
	for i := 0; i < len(c.Args); i++ {
		list, spliced := Spliced(c.Args[i])
		texts := Texts(c.Args[i])
		option, plain := "", false
		for _, t := range texts {
			if len(t) > 1 && (t[0] == '-' || g.plus && t[0] == '+' || g.slash && t[0] == '/') {
				if ok, inline := g.code(t); ok {
					if inline != "" {
						return Code{c, t, flow.Value{{Kind: flow.Str, Text: inline}}, -1}, true
					}
					if spliced || i+1 < len(c.Args) {
						return c.codeAt(t, i+1), true
					}
				}
				option = t
			} else {
				plain = true
			}
		}
		if spliced {
			if list.Has(flow.Many) || g.through || c.laterCode(g, i+1) {
				continue
			}
			return Code{}, false
		}
		switch {
		case option == "" && !plain:
			// Not known: an option, or the script. What comes after it tells when it cannot be the script's.
			if g.through || i+1 < len(c.Args) && c.optionAt(g, i+1) && c.laterCode(g, i+1) && len(c.Args[i]) > 0 && unknownOption(c.Args[i]) {
				continue
			}
			if g.bare {
				return c.codeAt("", i), true
			}
			return Code{}, false
		case option == "":
			if g.bare {
				return c.codeAt("", i), true
			}
			if !g.through {
				return Code{}, false
			}
		case option == "--" && !g.through:
			return Code{}, false
		case g.stop != nil && g.stop(option):
			return Code{}, false
		case g.valued != nil && g.valued(option):
			i++
		}
	}
	return Code{}, false
}

func (c Command) codeAt(option string, i int) Code {
	code := Code{Command: c, Option: option, At: i}
	if i < len(c.Args) {
		code.Text = c.Args[i]
	} else {
		code.At = -1
	}
	return code
}

// laterCode reports whether one of the words from i on is the option that takes text, with a word behind it.
func (c Command) laterCode(g grammar, i int) bool {
	for ; i+1 < len(c.Args); i++ {
		for _, t := range Texts(c.Args[i]) {
			if len(t) > 1 && t[0] == '-' {
				if ok, _ := g.code(t); ok {
					return true
				}
			}
		}
	}
	return false
}

func (c Command) optionAt(g grammar, i int) bool {
	for _, t := range Texts(c.Args[i]) {
		if len(t) > 1 && t[0] == '-' {
			return true
		}
	}
	return false
}

// unknownOption reports whether a word of unknown text starts like an option.
func unknownOption(word flow.Value) bool {
	for _, a := range word {
		if a.Kind == flow.Concat && len(a.Elems[0]) == 1 && a.Elems[0][0].Kind == flow.Str && strings.HasPrefix(a.Elems[0][0].Text, "-") {
			return true
		}
	}
	return false
}

func (c Command) subcommand(name string) (Code, bool) {
	for i, w := range c.Args {
		for _, t := range Texts(w) {
			if t == name && i+1 < len(c.Args) {
				return c.codeAt(name, i+1), true
			}
		}
	}
	return Code{}, false
}

// is matches any of the options.
func is(options ...string) func(string) bool {
	return func(option string) bool {
		for _, o := range options {
			if o == option {
				return true
			}
		}
		return false
	}
}

// text matches any of the options, and the long ones with "=text" behind.
func text(options ...string) func(string) (bool, string) {
	return func(option string) (bool, string) {
		for _, o := range options {
			if o == option {
				return true, ""
			}
			if strings.HasPrefix(o, "--") && strings.HasPrefix(option, o+"=") {
				return true, option[len(o)+1:]
			}
		}
		return false, ""
	}
}

// clusterWith matches a cluster of short options that ends in one of code; a letter of valued before it takes the rest as its value.
func clusterWith(code, valued string) func(string) (bool, string) {
	return func(option string) (bool, string) {
		if !strings.HasPrefix(option, "-") || strings.HasPrefix(option, "--") {
			return false, ""
		}
		for i := 1; i < len(option); i++ {
			if strings.IndexByte(code, option[i]) >= 0 {
				return true, option[i+1:]
			}
			if strings.IndexByte(valued, option[i]) >= 0 {
				return false, ""
			}
		}
		return false, ""
	}
}

// shellCode matches -c alone or in a cluster such as -euxc, and fish's long form.
func shellCode(option string) (bool, string) {
	if strings.HasPrefix(option, "--") {
		return text("--command", "--init-command")(option)
	}
	return option[0] == '-' && strings.IndexByte(option, 'c') > 0, ""
}

func shellValued(option string) bool {
	switch option {
	case "--rcfile", "--init-file", "--features", "--profile", "--debug-output":
		return true
	}
	if strings.HasPrefix(option, "--") {
		return false
	}
	last := option[len(option)-1]
	return last == 'o' || last == 'O'
}

func nodeCode(option string) (bool, string) {
	switch option {
	case "-e", "-p", "-pe", "-ep":
		return true, ""
	}
	return text("--eval", "--print")(option)
}

func windowsCode(option string) (bool, string) {
	low := strings.ToLower(option)
	if low == "/c" || low == "/k" || low == "/r" {
		return true, ""
	}
	if strings.HasPrefix(low, "/c") || strings.HasPrefix(low, "/k") {
		return true, option[2:]
	}
	return false, ""
}

// powershellCode matches -Command and -EncodedCommand in any unambiguous abbreviation.
func powershellCode(option string) (bool, string) {
	o := strings.ToLower(strings.TrimLeft(option, "-/"))
	if o == "" {
		return false, ""
	}
	return strings.HasPrefix("command", o) || o == "cwa" || strings.HasPrefix("commandwithargs", o) ||
		o == "ec" || strings.HasPrefix("encodedcommand", o), ""
}

func powershellFile(option string) bool {
	o := strings.ToLower(strings.TrimLeft(option, "-/"))
	return o != "" && strings.HasPrefix("file", o)
}

func powershellValued(option string) bool {
	switch strings.ToLower(strings.TrimLeft(option, "-/")) {
	case "executionpolicy", "ep", "ex", "exec", "version", "v", "windowstyle", "w", "inputformat", "if", "outputformat", "of", "workingdirectory",
		"wd", "configurationname", "psconsolefile":
		return true
	}
	return false
}

// watch runs its arguments through a shell unless -x says otherwise.
func (c Command) watch() (Code, bool) {
	for i := 0; i < len(c.Args); i++ {
		texts := Texts(c.Args[i])
		option := ""
		for _, t := range texts {
			if strings.HasPrefix(t, "-") {
				option = t
			}
		}
		switch {
		case option == "-x" || option == "--exec":
			return Code{}, false
		case option == "-n" || option == "--interval" || option == "-q" || option == "--equexit":
			i++
		case option == "":
			if _, ok := Spliced(c.Args[i]); ok && len(texts) == 0 {
				return Code{}, false
			}
			return c.codeAt("", i), true
		}
	}
	return Code{}, false
}
