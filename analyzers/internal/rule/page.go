package rule

import "strings"

// Doc extracts an analyzer's documentation from its doc.go: the text of the package comment from its "# Analyzer" heading on, without
// the heading. It starts with "name: summary", which drivers show as the rule's title.
func Doc(source string) string {
	var b strings.Builder
	in := false
	for line := range strings.Lines(source) {
		line = strings.TrimRight(line, "\n")
		if !strings.HasPrefix(line, "//") {
			break
		}
		line = strings.TrimPrefix(strings.TrimPrefix(line, "//"), " ")
		if strings.HasPrefix(line, "# Analyzer ") {
			in = true
			continue
		}
		if in {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return strings.TrimSpace(b.String())
}
