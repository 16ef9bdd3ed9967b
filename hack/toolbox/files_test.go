//go:build linux

package main

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestFiles(t *testing.T) {
	runScripts(t, []script{
		{name: "ls by name without dots", commands: "touch b a .c; ls; ls -a | wc -l", out: "a\nb\n3\n"},
		{name: "ls of a link", commands: "ln -s t l; ls -l l | grep -c -F 'l -> t'", out: "1\n"},
		{name: "ls of directories", commands: "mkdir d e; touch d/f; ls d e; ls -d d", out: "d:\nf\ne:\nd\n"},
		{name: "ls of what is absent", commands: "ls nosuch", err: "nosuch", status: 1},
		{name: "mkdir", commands: "mkdir a && mkdir -p a/b/c a && find . -type d | sort", out: ".\n./a\n./a/b\n./a/b/c\n"},
		{name: "mkdir of what exists", commands: "mkdir a; mkdir a", err: "exists", status: 1},
		{name: "mkdir with a mode", commands: "mkdir -m 700 a; ls -ld a | grep -c '^drwx------ '", out: "1\n"},
		{name: "rm", commands: "touch a; rm a; ls"},
		{name: "rm of what is absent", commands: "rm -f a; rm a", err: "a", status: 1},
		{name: "rm of a directory", commands: "mkdir a; rm a", err: "directory", status: 1},
		{name: "rm of a tree", commands: "mkdir -p a/b; touch a/b/c; rm -rf a; ls"},
		{name: "rm of a link leaves its target", commands: "mkdir d; ln -s d l; rm -r l; ls", out: "d\n"},
		{name: "rmdir", commands: "mkdir a; rmdir a; ls; mkdir b; touch b/f; rmdir b", err: "not empty", status: 1},
		{name: "cp keeps the mode", commands: "echo a >f; chmod 741 f; cp f g; cat g; ls -l g | grep -c '^-rwxr----x '", out: "a\n1\n"},
		{name: "cp into a directory", commands: "touch a b; mkdir d; cp a b d; ls d", out: "a\nb\n"},
		{name: "cp of a tree", commands: "mkdir -p d/e; echo x >d/e/f; ln -s f d/e/l; cp -r d n; cat n/e/l; ls -l n/e/l | grep -c -- '-> f'", out: "x\n1\n"},
		{name: "cp of a directory", commands: "mkdir d; cp d e", err: "directory", status: 1},
		{name: "cp of many onto a file", commands: "touch a b c; cp a b c", err: "not a directory", status: 1},
		{name: "mv", commands: "echo a >f; mkdir d; mv f d; cat d/f; ls", out: "a\nd\n"},
		{name: "touch makes and keeps", commands: "echo a >f; touch f g; cat f g", out: "a\n"},
		{name: "ln", commands: "echo a >f; ln f h; ln -s f s; ln -sf h s; rm f; cat h s", out: "a\na\n"},
		{name: "chmod octal and symbols", commands: "touch f; chmod 600 f; chmod u+x,go=r f; ls -l f | head -c 10; echo; chmod -w f; ls -l f | head -c 10", out: "-rwxr--r--\n-r-xr--r--"},
		{name: "chmod of a nonsense mode", commands: "touch f; chmod u~x f", err: "u~x", status: 2},
		{name: "find by name and type", commands: "mkdir -p a/b; touch a/x.go a/b/y.go a/z; find a -name '*.go' -type f | sort", out: "a/b/y.go\na/x.go\n"},
		{name: "find to a depth", commands: "mkdir -p a/b/c; find a -maxdepth 1", out: "a\na/b\n"},
		{name: "find in what is absent", commands: "find nosuch", err: "nosuch", status: 1},
		{name: "find with an unknown test", commands: "find . -newer x", err: "-newer", status: 2},
		{name: "dd", commands: "printf abcdef | dd bs=2 skip=1 count=1 status=none", out: "cd"},
		{name: "dd into the middle", commands: "printf abcdef >f; printf XY | dd of=f bs=1 seek=2 conv=notrunc; cat f", out: "abXYef", err: "2 bytes"},
		{name: "dd of zeros", commands: "dd if=/dev/zero of=f bs=1k count=3 status=none; wc -c f", out: "3072 f\n"},
		{name: "basename and dirname", commands: "basename /a/b.go .go; dirname /a/b.go", out: "b\n/a\n"},
		{name: "pwd", commands: "mkdir d; cd d; basename $(pwd); basename $(env pwd)", out: "d\nd\n"},
	})
}

func TestInstalledTree(t *testing.T) {
	root := filepath.Dir(bin)
	for path, mode := range map[string]fs.FileMode{
		"tmp":         fs.ModeDir | fs.ModeSticky | 0o777,
		"workspace":   fs.ModeDir | 0o777,
		"bin/toolbox": 0o755,
		"etc/passwd":  0o644,
	} {
		info, err := os.Stat(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != mode {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), mode)
		}
	}
	list, err := exec.Command(filepath.Join(bin, "toolbox"), "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(list))
	if len(names) != len(applets) {
		t.Errorf("toolbox list prints %d names of %d", len(names), len(applets))
	}
	for _, name := range names {
		if target, err := os.Readlink(filepath.Join(bin, name)); err != nil || target != "toolbox" {
			t.Errorf("%s leads to %q, %v", name, target, err)
		}
	}
	if out, err := exec.Command(filepath.Join(bin, "toolbox"), "install", root).CombinedOutput(); err == nil || !strings.Contains(string(out), "not empty") {
		t.Errorf("installing over a tree: %v, %s", err, out)
	}
	if out, err := exec.Command("file", "-L", filepath.Join(bin, "sh")).Output(); err == nil && !strings.Contains(string(out), "static") {
		t.Errorf("the binary is not static: %s", out)
	}
}
