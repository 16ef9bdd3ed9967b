package gen

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
)

// A spec may come from a stranger's pull request. Its text reaches a Go file in two ways only, and both are in this file: as a string
// literal, or as a comment of one line.

// literal gives s as a Go string literal. Jennifer's own Lit writes Go syntax that is valid for any string.
func literal(s string) *jen.Statement { return jen.Lit(s) }

// unbuilt sets a word apart by a quote that would make an old build constraint or a heading of the line it begins: gofmt turns the one
// into a go:build line, wherever in the file it stands.
func unbuilt(text string) string {
	if strings.HasPrefix(text, "+build") || strings.HasPrefix(text, "#") {
		return "'" + text
	}
	return text
}

// paragraphs gives text as comment lines of at most width columns, broken at spaces. A space always follows the slashes, so that no text
// is a directive (go:build, go:embed, line, export, a plain or cgo preamble); a line break or other control character is written as its
// escape, so that the text never ends the comment.
func paragraphs(text string, width int) []string {
	var lines []string
	line := "//"
	for _, word := range strings.Fields(oneLine(text)) {
		if len(line)+1+len(word) > width && line != "//" {
			lines = append(lines, line)
			line = "//"
		}
		if line == "//" {
			word = unbuilt(word)
		}
		line += " " + word
	}
	return append(lines, line)
}

// oneLine escapes what could end a line or change how one is read: control characters, Unicode's line and paragraph separators, its
// bidirectional controls, and bytes that are not UTF-8.
func oneLine(text string) string {
	text = strings.TrimSpace(text)
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1, !unicode.IsPrint(r):
			quoted := strconv.Quote(text[i : i+n])
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// cell gives text as the content of one cell of a Markdown table: no bar ends the cell, no markup or HTML is read out of it.
func cell(text string) string {
	var b strings.Builder
	for _, r := range oneLine(text) {
		if strings.ContainsRune("\\`*_{}[]<>()#+!|~&", r) {
			if r == '<' {
				b.WriteString("&lt;")
				continue
			}
			if r == '&' {
				b.WriteString("&amp;")
				continue
			}
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// code gives text as a code span of a Markdown table cell.
func code(text string) string {
	text = strings.ReplaceAll(oneLine(text), "|", "\\|")
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 || strings.HasPrefix(text, "`") {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}
