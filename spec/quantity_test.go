package spec

import (
	"math"
	"testing"
	"time"
)

func TestQuantities(t *testing.T) {
	type read func(string) (uint64, bool)
	duration := func(s string) (uint64, bool) {
		d, ok := parseDuration(s)
		return uint64(d), ok
	}
	mode := func(s string) (uint64, bool) {
		m, ok := parseMode(s)
		return uint64(m), ok
	}
	for _, c := range []struct {
		kind string
		read read
		text string
		want uint64
		ok   bool
	}{
		{"size", parseSize, "0", 0, true}, {"size", parseSize, "64KiB", 64 << 10, true}, {"size", parseSize, "1 GiB", 1 << 30, true},
		{"size", parseSize, "8388607TiB", 8388607 << 40, true}, {"size", parseSize, "8388608TiB", 0, false},
		{"size", parseSize, "9223372036854775807", math.MaxInt64, true}, {"size", parseSize, "9223372036854775808", 0, false},
		{"size", parseSize, "512B", 512, true}, {"size", parseSize, "2GB", 0, false}, {"size", parseSize, "-1", 0, false},
		{"size", parseSize, "1.5GiB", 0, false}, {"size", parseSize, "KiB", 0, false}, {"size", parseSize, "", 0, false},
		{"count", parseCount, "12", 12, true}, {"count", parseCount, "012", 0, false}, {"count", parseCount, "+1", 0, false},
		{"count", parseCount, "0x10", 0, false}, {"count", parseCount, "1_000", 0, false}, {"count", parseCount, "1e3", 0, false},
		{"cpus", parseCPUs, "1.5", 1_500_000_000, true}, {"cpus", parseCPUs, "2", 2_000_000_000, true},
		{"cpus", parseCPUs, "0.000000001", 1, true}, {"cpus", parseCPUs, "0.0000000001", 0, false}, {"cpus", parseCPUs, "1.", 0, false},
		{"cpus", parseCPUs, ".5", 0, false}, {"cpus", parseCPUs, "1.x", 0, false}, {"cpus", parseCPUs, "1048577", 0, false},
		{"duration", duration, "10m", uint64(10 * time.Minute), true}, {"duration", duration, "0", 0, true},
		{"duration", duration, "-1s", 0, false}, {"duration", duration, "10", 0, false},
		{"mode", mode, "0755", 0o755, true}, {"mode", mode, "1777", 0o1777, true}, {"mode", mode, "0o400", 0o400, true},
		{"mode", mode, "10000", 0, false}, {"mode", mode, "0999", 0, false}, {"mode", mode, "", 0, false}, {"mode", mode, "+7", 0, false},
	} {
		got, ok := c.read(c.text)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s %q gives %d, %v; want %d, %v", c.kind, c.text, got, ok, c.want, c.ok)
		}
	}
}

func TestSizesReadBack(t *testing.T) {
	for _, n := range []uint64{0, 1, 1023, 1024, 1536, 1 << 20, 3 << 30, 5 << 40, math.MaxInt64} {
		if got, ok := parseSize(formatSize(n)); !ok || got != n {
			t.Errorf("%d is written %s and read as %d", n, formatSize(n), got)
		}
	}
}
