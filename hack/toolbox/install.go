//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// tree is the root filesystem around the binary: files by path, directories
// and symlinks. The empty directories are places to mount on.
var tree = struct {
	directories map[string]fs.FileMode
	files       map[string]string
	links       map[string]string
}{
	directories: map[string]fs.FileMode{
		"bin": 0o755, "dev": 0o755, "etc": 0o755, "home/sbx": 0o755, "proc": 0o755, "root": 0o700,
		"run": 0o755, "sys": 0o755, "tmp": 0o777 | fs.ModeSticky, "usr": 0o755, "var/tmp": 0o777 | fs.ModeSticky,
		"workspace": 0o777,
	},
	files: map[string]string{
		"etc/passwd":        "root:x:0:0:root:/root:/bin/sh\nsbx:x:1000:1000:sandbox user:/home/sbx:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n",
		"etc/group":         "root:x:0:\nsbx:x:1000:\nnogroup:x:65534:\n",
		"etc/hosts":         "127.0.0.1 localhost\n",
		"etc/resolv.conf":   "",
		"etc/hostname":      "toolbox\n",
		"etc/nsswitch.conf": "hosts: files dns\n",
		"etc/os-release":    "ID=sbxkit-toolbox\nNAME=\"sbxkit test toolbox\"\n",
	},
	// Merged-usr, as on the hosts whose images this stands for.
	links: map[string]string{"usr/bin": "../bin", "sbin": "bin", "usr/sbin": "../bin"},
}

// runInstall writes the root filesystem into DIR, which must be absent or
// empty: the binary as /bin/toolbox and a symlink to it for every applet.
func runInstall(c *call) error {
	if len(c.args) != 1 {
		return usageError("usage: toolbox install DIR")
	}
	if err := os.MkdirAll(c.args[0], 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(c.args[0])
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty", c.args[0])
	}
	root, err := os.OpenRoot(c.args[0])
	if err != nil {
		return err
	}
	defer root.Close()
	for name, mode := range tree.directories {
		if err := root.MkdirAll(name, 0o755); err != nil {
			return err
		}
		// Past the umask, and with the sticky bit, which mkdir ignores.
		if err := root.Chmod(name, mode); err != nil {
			return err
		}
	}
	for name, text := range tree.files {
		if err := root.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for name, target := range tree.links {
		if err := root.Symlink(target, name); err != nil {
			return err
		}
	}
	if err := installSelf(root); err != nil {
		return fmt.Errorf("copying the binary: %w", err)
	}
	for name := range applets {
		if err := root.Symlink("toolbox", filepath.Join("bin", name)); err != nil {
			return err
		}
	}
	return nil
}

func installSelf(root *os.Root) error {
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer self.Close()
	copied, err := root.OpenFile("bin/toolbox", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(copied, self); err != nil {
		return errors.Join(err, copied.Close())
	}
	// Past the umask: every user of the image must be able to run it.
	return errors.Join(copied.Chmod(0o755), copied.Close())
}
