package spec

import (
	"fmt"
	"strings"
)

// nearest gives the candidate that a typing error most likely meant, or "". Among equals the first wins.
func nearest(word string, candidates []string) string {
	best, bound := "", max(len(word)/3, 2)+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c), bound); d < bound && d < max(len(c), 2) {
			best, bound = c, d
		}
	}
	return best
}

// distance counts the insertions, deletions, substitutions and swaps of neighbours between two words; at or above bound it gives bound.
func distance(a, b string, bound int) int {
	if d := len(a) - len(b); d >= bound || -d >= bound {
		return bound
	}
	prev2, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least >= bound {
			return bound
		}
		prev2, prev, row = prev, row, prev2
	}
	return min(prev[len(b)], bound)
}

// suggest is a hint: the nearest candidate, or all of them where they are few.
func suggest(word string, candidates []string) string {
	if n := nearest(word, candidates); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	if len(candidates) == 0 || len(candidates) > 20 {
		return ""
	}
	return "it is one of " + strings.Join(candidates, ", ")
}
