package spec

import (
	"fmt"
	"sort"
	"strings"
)

// Diagnostic is one fault of a spec, with its place.
type Diagnostic struct {
	Pos Position
	// Message says what is wrong, and Hint, if any, what would be right.
	Message string
	Hint    string
	// Line is the text of the line at Pos, without its line break; empty where there is none.
	Line string
}

// String is three lines in the manner of HCL's diagnostics: file:line:column and the message, the line, and a caret under the column.
// Where there is no line to show it is the first alone.
func (d Diagnostic) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", d.Pos, d.Message)
	if d.Hint != "" {
		b.WriteString("; ")
		b.WriteString(d.Hint)
	}
	if d.Line == "" {
		return b.String()
	}
	line, caret := window(d.Line, d.Pos.Column)
	number := fmt.Sprint(d.Pos.Line)
	fmt.Fprintf(&b, "\n  %s | %s\n  %s | %s^", number, line, strings.Repeat(" ", len(number)), caret)
	return b.String()
}

// widest is how much of a line is shown, in characters.
const widest = 120

// window gives the part of line that shows the column, with what the terminal would act on made visible, and the blanks before the
// caret; tabs stay tabs in both, so that the caret stands right whatever their width.
func window(line string, column int) (shown, blanks string) {
	chars := []rune(line)
	at := min(max(column-1, 0), len(chars))
	from := 0
	if at >= widest {
		from = at - widest/2
	}
	to := min(len(chars), from+widest)
	var text, before strings.Builder
	if from > 0 {
		text.WriteString("…")
		before.WriteByte(' ')
	}
	for i, c := range chars[from:to] {
		blank := ' '
		switch {
		case c == '\t':
			blank = '\t'
		case !printable(c):
			c = '\uFFFD'
		}
		text.WriteRune(c)
		if from+i < at {
			before.WriteRune(blank)
		}
	}
	if to < len(chars) {
		text.WriteString("…")
	}
	return text.String(), before.String()
}

// Diagnostics are all faults of a spec and of what it extends, sorted by place. It is an error; an empty one is none: use Err.
type Diagnostics []Diagnostic

// Error gives every diagnostic, one after the other.
func (ds Diagnostics) Error() string {
	texts := make([]string, len(ds))
	for i, d := range ds {
		texts[i] = d.String()
	}
	return strings.Join(texts, "\n")
}

// Err gives nil where there is no diagnostic.
func (ds Diagnostics) Err() error {
	if len(ds) == 0 {
		return nil
	}
	return ds
}

// sorted gives the diagnostics by file, line and column, each once.
func (ds Diagnostics) sorted() Diagnostics {
	sort.SliceStable(ds, func(i, j int) bool {
		a, b := ds[i].Pos, ds[j].Pos
		if a.File != b.File {
			return a.File < b.File
		}
		if a.Line != b.Line {
			return a.Line < b.Line
		}
		if a.Column != b.Column {
			return a.Column < b.Column
		}
		return ds[i].Message < ds[j].Message
	})
	var out Diagnostics
	for i, d := range ds {
		if i == 0 || d.Pos != ds[i-1].Pos || d.Message != ds[i-1].Message {
			out = append(out, d)
		}
	}
	return out
}
