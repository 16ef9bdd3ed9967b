package spec_test

import (
	"testing"

	"github.com/sbxkit/sbxkit/spec"
)

func TestParseLimit(t *testing.T) {
	for _, c := range []struct {
		name, text string
		soft, hard uint64
		err        string
	}{
		{"limits.open-files", "256", 256, 256, ""},
		{"limits.open-files", "256:1024", 256, 1024, ""},
		{"limits.memory", "512MiB", 512 << 20, 512 << 20, ""},
		{"limits.cpus", "1.5", 1500000000, 1500000000, ""},
		{"limits.cpu-time", "10s", 10, 10, ""},
		{"limits.cpu-time", "1500ms", 0, 0, `"1500ms" is not whole seconds, as 90s or 10m`},
		{"limits.open-files", "1024:256", 0, 0, "the soft bound 1024 is above the hard bound 256"},
		{"limits.open-files", "-1", 0, 0, `"-1" is not a whole number`},
		{"limits.open-files", "", 0, 0, `"" is not a whole number`},
		{"limits.nonsense", "1", 0, 0, `no limit is called "nonsense"`},
		{"mount.tmpfs", "1", 0, 0, `no limit is called "mount.tmpfs"`},
	} {
		soft, hard, err := spec.ParseLimit(c.name, c.text)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if soft != c.soft || hard != c.hard || got != c.err {
			t.Errorf("%s %q: got %d %d %q", c.name, c.text, soft, hard, got)
		}
	}
}
