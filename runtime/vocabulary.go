package runtime

import (
	"reflect"
	"slices"
	"strings"
)

// Vocabulary lists every feature a Launch can ask for, sorted, read off its fields' sbx tags and the constants of its sums. A spec
// has to speak of each of them.
func Vocabulary() []string {
	var names []string
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		for f := range fields(t) {
			tag := f.Tag.Get("sbx")
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if sum, ok := sums[tag]; ok {
				for _, v := range sum {
					names = append(names, tag+"."+v)
				}
			} else if tag != "" && (inner.Kind() != reflect.Struct || !tagged(inner)) {
				names = append(names, tag)
			}
			if inner.Kind() == reflect.Struct {
				walk(inner)
			}
		}
	}
	walk(reflect.TypeFor[Launch]())
	// An environment is asked for as a whole too: whatever it is made of, the command gets one.
	names = append(names, "environment", "streams.shared")
	slices.Sort(names)
	return slices.Compact(names)
}

// sums are the tags whose features are the words of a closed sum. streams.shared is no field: it is one sink given twice.
var sums = map[string][]string{
	"user":        {string(UserImage), string(UserCaller), string(UserID)},
	"workspace":   {string(WorkspaceBindRW), string(WorkspaceBindRO), string(WorkspaceCopy), string(WorkspaceVolume)},
	"network":     {string(NetworkNone), string(NetworkHost), string(NetworkPrivate), string(NetworkEgress), string(NetworkSession)},
	"stdin":       {string(StdinNone), string(StdinPipe), string(StdinFile)},
	"credentials": {"env", "file", "descriptor"},
	"mount": {string(MountBindRO), string(MountBindRW), string(MountTmpfs), string(MountVolume), string(MountFile), string(MountSymlink),
		string(MountMaskFile), string(MountMaskDir), string(MountDevice), string(MountSocket), string(MountProc), string(MountDev), string(MountDir)},
}

func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

func tagged(t reflect.Type) bool {
	for f := range fields(t) {
		if strings.TrimSpace(f.Tag.Get("sbx")) != "" {
			return true
		}
	}
	return false
}
