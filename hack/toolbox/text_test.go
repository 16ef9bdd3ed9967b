//go:build linux

package main

import "testing"

func TestText(t *testing.T) {
	runScripts(t, []script{
		{name: "cat joins files and input", commands: "echo f >f; cat f -", stdin: "in\n", out: "f\nin\n"},
		{name: "cat goes on after a fault", commands: "echo f >f; cat nosuch f", out: "f\n", err: "nosuch", status: 1},
		{name: "head lines", commands: "seq 20 | head -n 2", out: "1\n2\n"},
		{name: "head by default", commands: "seq 20 | head | wc -l", out: "10\n"},
		{name: "head the old way", commands: "seq 20 | head -1", out: "1\n"},
		{name: "head bytes", commands: "echo abcdef | head -c 3", out: "abc"},
		{name: "head of less", commands: "printf a | head -n 5", out: "a"},
		{name: "tail lines", commands: "seq 20 | tail -n 2", out: "19\n20\n"},
		{name: "tail of an unfinished line", commands: "printf 'a\\nb' | tail -n 1", out: "b"},
		{name: "tail bytes", commands: "printf abcdef | tail -c 2", out: "ef"},
		{name: "tail of more than there is", commands: "seq 2 | tail -n 5", out: "1\n2\n"},
		{name: "wc of input", commands: "printf 'a b\\nc\\n' | wc", out: "2 3 6\n"},
		{name: "wc of files", commands: "seq 2 >a; seq 3 >b; wc -l a b", out: "2 a\n3 b\n5 total\n"},
		{name: "seq from to", commands: "seq 2 4", out: "2\n3\n4\n"},
		{name: "seq down", commands: "seq 3 -2 0", out: "3\n1\n"},
		{name: "seq of nothing", commands: "seq 0"},
		{name: "seq without a step", commands: "seq 1 0 2", err: "step", status: 2},
		{name: "yes ends with its reader", commands: "yes no | head -n 2", out: "no\nno\n"},
		{name: "tee", commands: "echo a | tee f; echo b | tee -a f >/dev/null; cat f", out: "a\na\nb\n"},
		{name: "sort by bytes", commands: "printf 'b\\na\\nB\\n' | sort", out: "B\na\nb\n"},
		{name: "sort by number", commands: "printf '10\\n9\\n-1\\n' | sort -n", out: "-1\n9\n10\n"},
		{name: "sort the other way, once each", commands: "printf 'a\\nb\\na\\n' | sort -ru", out: "b\na\n"},
		{name: "uniq", commands: "printf 'a\\na\\nb\\na\\n' | uniq", out: "a\nb\na\n"},
		{name: "uniq counts", commands: "printf 'a\\na\\nb\\n' | uniq -c", out: "      2 a\n      1 b\n"},
		{name: "uniq repeated", commands: "printf 'a\\na\\nb\\n' | uniq -d", out: "a\n"},
		{name: "grep", commands: "seq 20 | grep '^1.$' | head -n 1", out: "10\n"},
		{name: "grep finds nothing", commands: "echo a | grep b", status: 1},
		{name: "grep counts what does not match", commands: "printf 'a\\nb\\nA\\n' | grep -civ a", out: "1\n"},
		{name: "grep of text", commands: "echo a.c | grep -F a.c; echo abc | grep -qF a.c", out: "a.c\n", status: 1},
		{name: "grep names files", commands: "mkdir d; echo x >d/f; echo y >d/g; grep -rl x d; grep -r y d", out: "d/f\nd/g:y\n"},
		{name: "grep of an absent file", commands: "grep a nosuch", err: "nosuch", status: 2},
		{name: "grep of a bad pattern", commands: "echo a | grep '('", err: "missing", status: 2},
		{name: "printf", commands: "printf '%s-%03d\\n' a 7", out: "a-007\n"},
		{name: "printf as a program", commands: "env printf '%s\\n' 'a  b'", out: "a  b\n"},
		{name: "echo as a program", commands: "env echo -n 'a  b'", out: "a  b"},
		{name: "test as a program", commands: "env test 1 -lt 2 && env [ a = b ]", status: 1},
		{name: "a flag it does not know", commands: "wc --nosuch", err: "nosuch", status: 2},
	})
}
