package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sbxkit/sbxkit/spec"
)

// explained is what a backend makes of one vocabulary name.
type explained struct {
	Name     string    `json:"name"`
	Sentence string    `json:"sentence"`
	Launch   string    `json:"launch,omitempty"`
	How      spec.How  `json:"how"`
	By       string    `json:"by,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Where    string    `json:"where"`
	Words    []wording `json:"words,omitempty"`
}

// wording is one line of the dialect: the words it gives and the engine's fields it sets.
type wording struct {
	Where string   `json:"where"`
	When  string   `json:"when,omitempty"`
	Words []string `json:"words,omitempty"`
	API   []string `json:"api,omitempty"`
	Since string   `json:"since,omitempty"`
}

func newExplain() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain SPEC [NAME]",
		Short: "Say what the lines of a spec mean",
		Long: "Say what a spec makes of each name a launch can ask for, or of NAME alone (a name such as limits.memory, or a group such\n" +
			"as limits): by which words, by which primitive, or why not. A built-in spec goes by its name.",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			b, err := loadOne(args[0])
			if err != nil {
				return err
			}
			name := ""
			if len(args) == 2 {
				name = args[1]
			}
			all := explain(b, name)
			if len(all) == 0 {
				return fmt.Errorf("%q is not in the vocabulary; sbxgen explain %s lists every name", name, args[0])
			}
			if asJSON {
				return writeJSON(cmd.OutOrStdout(), all)
			}
			printExplained(cmd.OutOrStdout(), all)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "give it as JSON")
	return c
}

// explain gives the names that are name or in the group of that name; every name where it is empty.
func explain(b *spec.Backend, name string) []explained {
	var all []explained
	for _, f := range b.Features {
		if name != "" && f.Name != name && !strings.HasPrefix(f.Name, name+".") {
			continue
		}
		term, _ := spec.Lookup(f.Name)
		e := explained{
			Name: f.Name, Sentence: term.Sentence, How: f.How, By: f.By, Reason: f.Reason, Where: f.Pos.Spec(), Words: wordings(b.Words, f.Name),
		}
		if term.Field != "" {
			e.Launch = "Launch." + term.Field
		}
		all = append(all, e)
	}
	return all
}

func wordings(entries []spec.Entry, name string) []wording {
	var all []wording
	for _, e := range entries {
		for _, s := range e.Spell {
			if s.Name == name {
				for _, inner := range s.Entries {
					all = append(all, wordingOf(inner))
				}
			}
		}
		for _, f := range e.For {
			if f == name {
				all = append(all, wordingOf(e))
			}
		}
	}
	return all
}

func wordingOf(e spec.Entry) wording {
	w := wording{Where: e.Pos.Spec(), When: e.When, Since: e.Since}
	for _, constant := range []string{e.Word, e.Flag} {
		if constant != "" {
			w.Words = append(w.Words, constant)
		}
	}
	for _, a := range e.Args {
		w.Words = append(w.Words, argText(a))
	}
	for _, b := range e.API {
		w.API = append(w.API, b.Path)
	}
	return w
}

// argText shows an argument with its values in angle brackets.
func argText(a spec.Arg) string {
	var b strings.Builder
	part := func(text, value, when string) {
		if value != "" {
			text += "<" + value + ">"
		}
		if when != "" {
			text = "[" + text + "]"
		}
		b.WriteString(text)
	}
	switch a.Kind {
	case spec.ArgValue:
		part("", a.Value.Name, "")
	case spec.ArgText:
		part(a.Text, "", "")
	case spec.ArgBool:
		fmt.Fprint(&b, a.Bool)
	case spec.ArgJoin:
		for _, p := range a.Pieces {
			part(p.Text, p.Value.Name, p.When)
		}
	case spec.ArgCSV:
		for i, f := range a.Fields {
			if i > 0 {
				b.WriteByte(',')
			}
			part(f.Text+f.Name, f.Value.Name, f.When)
		}
	}
	return b.String()
}

func printExplained(w io.Writer, all []explained) {
	for i, e := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: %s\n", e.Name, e.Sentence)
		if e.Launch != "" {
			fmt.Fprintf(w, "  asked for by %s\n", e.Launch)
		}
		switch e.How {
		case spec.HowSpelled:
			for _, word := range e.Words {
				printWording(w, word)
			}
		case spec.HowBy:
			fmt.Fprintf(w, "  %s: done by %s\n", e.Where, e.By)
		case spec.HowImplied:
			fmt.Fprintf(w, "  %s: the tool does it anyway: %s\n", e.Where, e.Reason)
		case spec.HowUnsupported:
			fmt.Fprintf(w, "  %s: unsupported, a launch that asks for it is refused: %s\n", e.Where, e.Reason)
		}
	}
}

func printWording(w io.Writer, word wording) {
	fmt.Fprintf(w, "  %s:", word.Where)
	for _, text := range word.Words {
		fmt.Fprintf(w, " %s", text)
	}
	if len(word.API) != 0 {
		fmt.Fprintf(w, " (API: %s)", strings.Join(word.API, ", "))
	}
	if word.When != "" {
		fmt.Fprintf(w, " (where %s is given)", word.When)
	}
	if word.Since != "" {
		fmt.Fprintf(w, " (since %s)", word.Since)
	}
	fmt.Fprintln(w)
}
