package spec

import (
	"fmt"
	"strings"
	"time"
)

// ParseLimit reads the bound of a limit as a spec writes it ("1024", "512MiB", "10s", "1.5"), or SOFT:HARD, in the unit of its vocabulary
// name ("limits.memory"): bytes, seconds, billionths of a CPU, or a count.
func ParseLimit(name, text string) (soft, hard uint64, err error) {
	term, ok := Lookup(name)
	if !ok || term.Group() != "limits" || len(term.Values) == 0 {
		return 0, 0, fmt.Errorf("no limit is called %q", strings.TrimPrefix(name, "limits."))
	}
	low, high, both := strings.Cut(text, ":")
	if !both {
		high = low
	}
	for _, part := range []struct {
		text string
		out  *uint64
	}{{low, &soft}, {high, &hard}} {
		n, want, ok := readAmount(term.Values[0].Format, part.text)
		if !ok {
			return 0, 0, fmt.Errorf("%q is not %s", part.text, want)
		}
		*part.out = n
	}
	if soft > hard {
		return 0, 0, fmt.Errorf("the soft bound %s is above the hard bound %s", low, high)
	}
	return soft, hard, nil
}

// ParseSize reads bytes as a spec writes them: "65536", "64KiB", "2GiB".
func ParseSize(text string) (uint64, error) {
	n, want, ok := readAmount(FormatBytes, text)
	if !ok {
		return 0, fmt.Errorf("%q is not %s", text, want)
	}
	return n, nil
}

// readAmount reads a bound in a format; want says what would be right.
func readAmount(f Format, text string) (n uint64, want string, ok bool) {
	want = "a whole number"
	switch f {
	case FormatBytes:
		n, ok = parseSize(text)
		want = "bytes, as 65536 or 64KiB"
	case FormatSeconds:
		want = "whole seconds, as 90s or 10m"
		if n, ok = parseCount(text); !ok {
			var d time.Duration
			d, ok = parseDuration(text)
			n, ok = uint64(d/time.Second), ok && d%time.Second == 0
		}
	case FormatCPUs:
		n, ok = parseCPUs(text)
		want = "a number of CPUs, as 1.5"
	default:
		n, ok = parseCount(text)
	}
	return n, want, ok
}
