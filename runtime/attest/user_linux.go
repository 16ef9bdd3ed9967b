package attest

import (
	"bytes"
	"fmt"

	"github.com/sbxkit/sbxkit/runtime"
)

// user compares the process's ids, as it sees them itself, with those of the request.
func (s *Subject) user(runtime.Claim) verdict {
	st, err := s.readStatus()
	if err != nil {
		return unknown(err)
	}
	want := s.expect.Request.User
	for _, x := range []struct {
		file string
		ids  [4]int
		want int
	}{{"uid_map", st.UID, want.UID}, {"gid_map", st.GID, want.GID}} {
		for _, id := range x.ids {
			in, err := s.inside(x.file, id)
			if err != nil {
				return unknown(err)
			}
			if in != x.want {
				return broken("status and %s: %d outside is %d inside, want %d", x.file, id, in, x.want)
			}
		}
	}
	return holds("status and id maps: %d:%d outside is %d:%d inside", st.UID[0], st.GID[0], want.UID, want.GID)
}

// inside maps an id as we see it to the process's own user namespace (user_namespaces(7): a map reads as the reader's namespace sees it).
func (s *Subject) inside(file string, id int) (int, error) {
	var buf [4096]byte
	b, err := ReadFile(s.base+"/"+file, buf[:])
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(b) {
		n, err := numbers(line)
		if err != nil || len(n) != 3 {
			return 0, fmt.Errorf("reading %s: %q", file, line)
		}
		if id >= n[1] && id-n[1] < n[2] {
			return n[0] + id - n[1], nil
		}
	}
	return 0, fmt.Errorf("%s does not map %d", file, id)
}
