package gen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Module finds the directory of the go.mod that dir belongs to.
func Module(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("finding the module of %s: %w", dir, err)
	}
	for d := start; ; d = filepath.Dir(d) {
		switch info, err := os.Stat(filepath.Join(d, "go.mod")); {
		case err == nil && info.Mode().IsRegular():
			return d, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("finding the module of %s: %w", dir, err)
		case filepath.Dir(d) == d:
			return "", fmt.Errorf("%s is in no Go module: run go mod init first, or go where go.mod is", start)
		}
	}
}

// Directive is a go:generate line that runs sbxgen.
type Directive struct {
	// Dir is the directory of its file, where it runs; File is relative to the module, slash-separated.
	Dir  string
	File string
	Line int
	// Args follow the word sbxgen.
	Args []string
}

// Directives finds the module's go:generate lines that run sbxgen, in order of files and lines: what go generate would make, and
// therefore what has to be there.
func Directives(module string) ([]Directive, error) {
	var all []Directive
	err := walkModule(module, func(file string, content []byte) error {
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		for i, line := range strings.Split(string(content), "\n") {
			command, ok := strings.CutPrefix(line, "//go:generate ")
			if !ok || !strings.Contains(command, "sbxgen") {
				continue
			}
			words, err := splitWords(command)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", file, i+1, err)
			}
			if args, ok := afterSbxgen(words); ok {
				dir := filepath.Dir(filepath.Join(module, filepath.FromSlash(file)))
				all = append(all, Directive{Dir: dir, File: file, Line: i + 1, Args: args})
			}
		}
		return nil
	})
	return all, err
}

// afterSbxgen gives the words after the command, however it is run: go tool sbxgen, go run …/cmd/sbxgen[@version], sbxgen.
func afterSbxgen(words []string) ([]string, bool) {
	for i, w := range words {
		name, _, _ := strings.Cut(w[strings.LastIndexByte(w, '/')+1:], "@")
		if name == "sbxgen" {
			return words[i+1:], true
		}
	}
	return nil, false
}

// splitWords splits a go:generate line as the go command does: at blanks, with Go strings in double quotes.
func splitWords(line string) ([]string, error) {
	var words []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimLeft(line, " \t\r") {
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, fmt.Errorf("a word of the go:generate line has no closing quote")
			}
			word, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("a word of the go:generate line is no Go string: %w", err)
			}
			words, line = append(words, word), line[len(quoted):]
			continue
		}
		end := strings.IndexAny(line, " \t\r")
		if end < 0 {
			end = len(line)
		}
		words, line = append(words, line[:end]), line[end:]
	}
	return words, nil
}

// walkModule calls f for each Go and Markdown file that belongs to the module: not those of nested modules, vendored packages, testdata
// and what the go command does not look at.
func walkModule(module string, f func(file string, content []byte) error) error {
	return filepath.WalkDir(module, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("looking through the module: %w", err)
		}
		name := e.Name()
		if e.IsDir() {
			if p == module {
				return nil
			}
			if name == "vendor" || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(p, "go.mod")); err == nil {
				return filepath.SkipDir
			}
			return nil
		}
		if !e.Type().IsRegular() || filepath.Ext(name) != ".go" && filepath.Ext(name) != ".md" {
			return nil
		}
		content, err := os.ReadFile(p)
		if err != nil {
			return fmt.Errorf("looking through the module: %w", err)
		}
		file, err := filepath.Rel(module, p)
		if err != nil {
			return fmt.Errorf("looking through the module: %w", err)
		}
		return f(filepath.ToSlash(file), content)
	})
}
