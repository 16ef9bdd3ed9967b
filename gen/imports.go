package gen

import (
	"bytes"
	"go/format"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dave/jennifer/jen"
)

// importNames plans the name of each import of one package: the last element of the path where that is free, else the element before
// it put in front ("osexec"), else a number behind. Jennifer keeps its names apart from each other and from keywords, and knows nothing of
// the names a package declares itself; a file whose func exec meets package os/exec would not compile.
//
// taken are the names that the package declares at top level and the names of variables in its functions.
func importNames(paths, taken []string) map[string]string {
	used := map[string]bool{}
	for _, name := range taken {
		used[name] = true
	}
	names := make(map[string]string, len(paths))
	for _, p := range paths {
		if names[p] != "" {
			continue
		}
		name := importName(p, used)
		used[name] = true
		names[p] = name
	}
	return names
}

func importName(importPath string, used map[string]bool) string {
	free := func(name string) bool {
		return token.IsIdentifier(name) && types.Universe.Lookup(name) == nil && !used[name]
	}
	last := identifier(path.Base(importPath))
	if version(last) {
		last = identifier(path.Base(path.Dir(importPath)))
	}
	if free(last) {
		return last
	}
	longer := identifier(path.Base(path.Dir(importPath))) + last
	if free(longer) {
		return longer
	}
	for n := 2; ; n++ {
		if name := longer + strconv.Itoa(n); free(name) {
			return name
		}
	}
}

// version is true for the last element of the path of a major version ("v2").
func version(element string) bool {
	_, err := strconv.Atoi(strings.TrimPrefix(element, "v"))
	return err == nil && strings.HasPrefix(element, "v")
}

// identifier keeps of s what may stand in a Go identifier.
func identifier(s string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return -1
	}, s)
	if name == "" || name == "." {
		return "pkg"
	}
	return name
}

// planImports gives each import its planned name in file.
func planImports(file *jen.File, names map[string]string) {
	for importPath, name := range names {
		if name == path.Base(importPath) {
			file.ImportName(importPath, name)
		} else {
			file.ImportAlias(importPath, name)
		}
	}
}

// groupImports sets the imports of the standard library apart from the others, as a person does.
func groupImports(source []byte) ([]byte, error) {
	const open, shut = "\nimport (\n", "\n)\n"
	from := bytes.Index(source, []byte(open))
	if from < 0 {
		return source, nil
	}
	from += len(open)
	to := from + bytes.Index(source[from:], []byte(shut))
	lines := strings.Split(string(source[from:to]), "\n")
	foreign := func(line string) int {
		if first, _, _ := strings.Cut(line[strings.Index(line, `"`)+1:], "/"); strings.Contains(first, ".") {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(lines, func(a, b string) int { return foreign(a) - foreign(b) })
	for i := 1; i < len(lines); i++ {
		if foreign(lines[i]) != foreign(lines[i-1]) {
			lines = slices.Insert(lines, i, "")
			break
		}
	}
	return format.Source(slices.Concat(source[:from], []byte(strings.Join(lines, "\n")), source[to:]))
}
