package spec

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// Units of a size. Decimal units are not among them: two kinds of kilo in one file are one too many.
var sizeUnits = []struct {
	suffix string
	shift  uint
}{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}, {"B", 0}}

// parseSize reads bytes: a decimal number, with KiB, MiB, GiB or TiB.
func parseSize(text string) (uint64, bool) {
	shift := uint(0)
	for _, u := range sizeUnits {
		if n, ok := strings.CutSuffix(text, u.suffix); ok {
			text, shift = strings.TrimRight(n, " "), u.shift
			break
		}
	}
	n, ok := parseCount(text)
	if !ok {
		return 0, false
	}
	high, low := bits.Mul64(n, 1<<shift)
	if high != 0 || low > math.MaxInt64 {
		return 0, false
	}
	return low, true
}

// parseCount reads a decimal number that fits an int64.
func parseCount(text string) (uint64, bool) {
	if text == "" || len(text) > 1 && text[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 63)
	return n, err == nil && text[0] != '+'
}

// parseCPUs reads a decimal number of CPUs with at most nine digits after the point, in billionths.
func parseCPUs(text string) (uint64, bool) {
	whole, part, dotted := strings.Cut(text, ".")
	n, ok := parseCount(whole)
	if !ok || n > 1<<20 || dotted && (part == "" || len(part) > 9) {
		return 0, false
	}
	rest := uint64(0)
	for i := range 9 {
		digit := byte('0')
		if i < len(part) {
			digit = part[i]
		}
		if digit < '0' || digit > '9' {
			return 0, false
		}
		rest = rest*10 + uint64(digit-'0')
	}
	return n*1e9 + rest, true
}

// parseDuration reads a duration of at least nothing, as 90s or 10m, or a bare 0.
func parseDuration(text string) (time.Duration, bool) {
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0
}

// parseMode reads a permission in octal, with or without a leading 0 or 0o.
func parseMode(text string) (uint32, bool) {
	digits := strings.TrimPrefix(text, "0o")
	n, err := strconv.ParseUint(digits, 8, 32)
	return uint32(n), err == nil && n <= 0o7777 && digits[0] != '+'
}

// formatSize gives bytes in the largest unit that divides them.
func formatSize(n uint64) string {
	for i := 3; i >= 0; i-- {
		if u := sizeUnits[i]; n != 0 && n%(1<<u.shift) == 0 {
			return strconv.FormatUint(n>>u.shift, 10) + u.suffix
		}
	}
	return strconv.FormatUint(n, 10)
}
