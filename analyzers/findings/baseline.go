package findings

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Fingerprints returns one text for each finding that stays the same while the code around it moves: a hash of the rule, the file
// relative to root, the message and the line's text, with a counter for findings that are alike in all that.
func Fingerprints(root string, list []Finding) []string {
	lines := make(map[string][]string)
	seen := make(map[string]int)
	out := make([]string, len(list))
	for i, f := range list {
		text := ""
		if _, ok := lines[f.Pos.File]; !ok {
			data, err := os.ReadFile(f.Pos.File)
			if err != nil {
				data = nil // a file the go command made; the message has to do
			}
			lines[f.Pos.File] = strings.Split(string(data), "\n")
		}
		if n := f.Pos.Line; n >= 1 && n <= len(lines[f.Pos.File]) {
			text = strings.TrimSpace(lines[f.Pos.File][n-1])
		}
		sum := sha256.Sum256([]byte(strings.Join([]string{f.Rule, filepath.ToSlash(Relative(root, f.Pos.File)), f.Message, text}, "\x00")))
		print := hex.EncodeToString(sum[:12])
		seen[print]++
		out[i] = fmt.Sprintf("%s/%d", print, seen[print])
	}
	return out
}

const baselineHeader = "# Findings that sbxvet -baseline counts and does not report. Made by sbxvet -write-baseline; one finding a line:\n# fingerprint rule file: message\n"

// WriteBaseline writes the findings to the file called name.
func WriteBaseline(name, root string, list []Finding) error {
	var buf bytes.Buffer
	buf.WriteString(baselineHeader)
	var lines []string
	for i, print := range Fingerprints(root, list) {
		f := list[i]
		lines = append(lines, fmt.Sprintf("%s %s %s: %s\n", print, f.Rule, filepath.ToSlash(Relative(root, f.Pos.File)), f.Message))
	}
	slices.SortFunc(lines, func(a, b string) int {
		// By what a reader looks for, not by the hash.
		_, a, _ = strings.Cut(a, " ")
		_, b, _ = strings.Cut(b, " ")
		return strings.Compare(a, b)
	})
	for _, l := range lines {
		buf.WriteString(l)
	}
	if err := os.WriteFile(name, buf.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the baseline: %w", err)
	}
	return nil
}

// ReadBaseline reads the fingerprints in the file called name.
func ReadBaseline(name string) (map[string]bool, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the baseline (sbxvet -write-baseline makes one): %w", err)
	}
	out := make(map[string]bool)
	s := bufio.NewScanner(bytes.NewReader(data))
	s.Buffer(nil, 1<<20)
	for n := 1; s.Scan(); n++ {
		line := strings.TrimSpace(s.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		print, _, ok := strings.Cut(line, " ")
		hash, count, ok2 := strings.Cut(print, "/")
		if _, err := hex.DecodeString(hash); !ok || !ok2 || err != nil || len(hash) != 24 || count == "" {
			return nil, fmt.Errorf("%s:%d: not a line of a baseline; make the file anew with sbxvet -write-baseline", name, n)
		}
		out[print] = true
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("reading the baseline %s: %w", name, err)
	}
	return out, nil
}

// Split returns the findings that the baseline does not hold, the number of those it does, and the number of its lines that nothing
// matched: those have been mended.
func Split(root string, list []Finding, baseline map[string]bool) (fresh []Finding, known, mended int) {
	used := 0
	for i, print := range Fingerprints(root, list) {
		if baseline[print] {
			known++
			used++
			continue
		}
		fresh = append(fresh, list[i])
	}
	return fresh, known, len(baseline) - used
}
