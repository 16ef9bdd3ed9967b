package attest

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// Filled reports whether the kernel has put a new program's environment into its memory, which is after its words; until then, and
// where there is none at all, it reads as empty (create_elf_tables in fs/binfmt_elf.c).
func Filled(pid int) bool {
	var b [1]byte
	got, err := ReadFile("/proc/"+strconv.Itoa(pid)+"/environ", b[:])
	return err == nil && len(got) > 0
}

// environment holds where the process's environment is the planned one, to the byte, plus what the launcher adds itself. No value is ever
// in the evidence.
func (s *Subject) environment(runtime.Claim) verdict {
	b, err := readAll(s.base+"/environ", make([]byte, 4096))
	if err != nil {
		return unknown(err)
	}
	want := make(map[string]string, len(s.expect.Request.Env))
	for _, v := range s.expect.Request.Env {
		want[v.Name] = v.Value
	}
	var extra, changed, added []string
	seen := map[string]bool{}
	for e := range bytes.SplitSeq(bytes.TrimSuffix(b, []byte{0}), []byte{0}) {
		if len(e) == 0 && len(b) == 0 {
			break
		}
		name, value, ok := strings.Cut(string(e), "=")
		if !ok {
			extra = append(extra, "an entry without =")
			continue
		}
		if seen[name] {
			extra = append(extra, name+" twice")
			continue
		}
		seen[name] = true
		planned, ok := want[name]
		switch {
		case ok && planned == value:
		case ok:
			changed = append(changed, name)
		case slices.Contains(s.expect.Added, name):
			added = append(added, name)
		default:
			extra = append(extra, name)
		}
	}
	var missing []string
	for _, v := range s.expect.Request.Env {
		if !seen[v.Name] {
			missing = append(missing, v.Name)
		}
	}
	if len(extra)+len(changed)+len(missing) > 0 {
		var what []string
		for _, x := range []struct {
			what  string
			names []string
		}{{"not planned", extra}, {"with another value", changed}, {"missing", missing}} {
			if len(x.names) > 0 {
				what = append(what, x.what+": "+strings.Join(x.names, " "))
			}
		}
		return broken("environ: %s", strings.Join(what, "; "))
	}
	ours := ""
	if len(added) > 0 {
		ours = fmt.Sprintf(", and %s of the launcher", strings.Join(added, " "))
	}
	return holds("environ: the %d planned variables%s", len(seen)-len(added), ours)
}
