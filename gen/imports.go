package gen

import (
	"go/token"
	"go/types"
	"path"
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
