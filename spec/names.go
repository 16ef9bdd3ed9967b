package spec

import (
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	packageName  = regexp.MustCompile(`^[a-z][a-z0-9]{0,31}$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	variablePat  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}\*?$|^\*$`)
	roleName     = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	programName  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$`)
	flagName     = regexp.MustCompile(`^--?[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)
	version      = regexp.MustCompile(`^[0-9]{1,6}(\.[0-9]{1,6}){0,3}$`)
	fieldPath    = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,63}(\.[A-Z][A-Za-z0-9]{0,63}){0,5}$`)
	fieldName    = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,63}$`)
	platformName = regexp.MustCompile(`^[a-z0-9]+/[a-z0-9]+(/[a-z0-9]+)?$`)
	// deviceName are names that Windows keeps for devices, whatever stands after them.
	deviceName = regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)
)

// taken are package names that mean something to the go command, or that generated code imports.
var taken = []string{"main", "internal", "vendor", "testdata", "runtime", "process", "engine", "script", "spec", "gen", "sbx"}

// badPackage says why s is no name for a generated package and its directory; "" where it is one.
func badPackage(s string) string {
	switch {
	case !packageName.MatchString(s):
		return "is not lower-case letters and digits, a letter first, at most 32"
	case token.IsKeyword(s):
		return "is a keyword of Go"
	case types.Universe.Lookup(s) != nil:
		return "is a name Go declares itself"
	case slices.Contains(taken, s):
		return "means something else in Go or in generated code"
	case deviceName.MatchString(s):
		return "is a device on Windows, where no directory can have that name"
	}
	return ""
}

// badPath says why s is no absolute path in its shortest form; "" where it is one.
func badPath(s string) string {
	switch {
	case !strings.HasPrefix(s, "/"):
		return "is not absolute"
	case strings.ContainsAny(s, "\n\t"):
		return "holds a line break or tab"
	case path.Clean(s) != s:
		return "is not in its shortest form, " + quote(path.Clean(s))
	}
	return ""
}

// matches reports whether a name or pattern is covered by a pattern that may end in *.
func matches(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(strings.TrimSuffix(name, "*"), prefix) && len(strings.TrimSuffix(name, "*")) >= len(prefix)
	}
	return pattern == name
}
