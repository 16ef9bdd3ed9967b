package mountstest

import "github.com/sbxkit/sbxkit/runtime"

// Layout is the file system of a real distribution, in small, with the mounts a policy for it asks for and what must then be visible.
type Layout struct {
	Name   string
	Host   *FS
	Mounts []runtime.Mount
	// Shows gives, for paths inside, the path of the host that must be visible there; empty for a path where nothing may be.
	Shows map[string]string
	// Links are paths inside that must be links with that text.
	Links map[string]string
}

// Layouts gives new copies of all layouts.
func Layouts() []Layout {
	return []Layout{debian(), debianRoot(), arch(), fedora(), silverblue(), nixos()}
}

func bind(kind runtime.MountKind, source, target, origin string) runtime.Mount {
	return runtime.Mount{Kind: kind, Source: source, Target: target, Origin: origin}
}

// policy gives read-only binds of paths at themselves, and proc, dev and /tmp after them.
func policy(paths ...string) []runtime.Mount {
	var list []runtime.Mount
	for _, p := range paths {
		m := bind(runtime.MountBindRO, p, p, "policy")
		m.Optional = true
		list = append(list, m)
	}
	return append(list,
		runtime.Mount{Kind: runtime.MountProc, Target: "/proc", Origin: "policy"},
		runtime.Mount{Kind: runtime.MountDev, Target: "/dev", Origin: "policy"},
		runtime.Mount{Kind: runtime.MountTmpfs, Target: "/tmp", Origin: "policy"})
}

const debianTree = `
	/bin -> usr/bin
	/sbin -> usr/sbin
	/lib -> usr/lib
	/lib64 -> usr/lib64
	/usr/bin/dash
	/usr/bin/sh -> dash
	/usr/bin/mawk
	/usr/bin/awk -> /etc/alternatives/awk
	/etc/alternatives/awk -> /usr/bin/mawk
	/usr/sbin/ldconfig
	/usr/lib/x86_64-linux-gnu/ld.so
	/usr/lib64/ld-linux-x86-64.so.2 -> ../lib/x86_64-linux-gnu/ld.so
	/usr/local/bin/tool
	/etc/passwd
	/etc/shadow
	/etc/resolv.conf -> ../run/systemd/resolve/stub-resolv.conf
	/run/systemd/resolve/stub-resolv.conf
	/run/docker.sock =
	/run/user/1000/bus =
	/var/run -> /run
	/var/lib/data
	/home/u/w/main.go
	/home/u/w/.env
	/home/u/.ssh/id
	/proc/
	/dev/null %
	/tmp/
`

func debian() Layout {
	return Layout{
		Name: "debian",
		Host: Parse(debianTree),
		Mounts: append(policy("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/etc"),
			bind(runtime.MountBindRW, "/home/u/w", "/workspace", "workspace"),
			runtime.Mount{Kind: runtime.MountMask, Target: "/etc/shadow", Origin: "launch.Mounts[0]"},
			runtime.Mount{Kind: runtime.MountMask, Target: "/workspace/.env", Origin: "launch.Mounts[1]"}),
		Shows: map[string]string{
			"/bin/sh": "/usr/bin/dash", "/usr/bin/awk": "/usr/bin/mawk", "/sbin/ldconfig": "/usr/sbin/ldconfig",
			"/lib64/ld-linux-x86-64.so.2": "/usr/lib/x86_64-linux-gnu/ld.so", "/etc/passwd": "/etc/passwd",
			"/etc/resolv.conf":   "/run/systemd/resolve/stub-resolv.conf",
			"/workspace/main.go": "/home/u/w/main.go", "/home/u/w/main.go": "", "/run/docker.sock": "", "/var/lib/data": "",
		},
		Links: map[string]string{"/bin": "usr/bin", "/sbin": "usr/sbin", "/lib": "usr/lib", "/lib64": "usr/lib64"},
	}
}

func debianRoot() Layout {
	return Layout{
		Name: "debian with its whole root",
		Host: Parse(debianTree + "/run/systemd/resolve/io.systemd.Resolve =\n"),
		Mounts: append([]runtime.Mount{
			{Kind: runtime.MountTmpfs, Target: "/run", Origin: "policy"},
			{Kind: runtime.MountMask, Target: "/home/u/.ssh", Origin: "policy"},
			{Kind: runtime.MountMask, Target: "/home/u/.aws", Origin: "policy"},
		}, append(policy("/", "/bin"), bind(runtime.MountBindRW, "/home/u/w", "/home/u/w", "workspace"))...),
		Shows: map[string]string{
			"/bin/sh": "/usr/bin/dash", "/etc/resolv.conf": "/run/systemd/resolve/stub-resolv.conf", "/home/u/w/main.go": "/home/u/w/main.go",
			"/home/u/.ssh/id": "", "/run/docker.sock": "", "/var/run/docker.sock": "", "/run/systemd/resolve/io.systemd.Resolve": "",
			"/var/lib/data": "/var/lib/data",
		},
		Links: map[string]string{"/bin": "usr/bin", "/var/run": "/run"},
	}
}

func arch() Layout {
	return Layout{
		Name: "arch",
		Host: Parse(`
			/bin -> usr/bin
			/sbin -> usr/bin
			/lib -> usr/lib
			/lib64 -> usr/lib
			/usr/sbin -> bin
			/usr/lib64 -> lib
			/usr/bin/bash
			/usr/bin/sh -> bash
			/usr/lib/ld-linux-x86-64.so.2
			/etc/passwd
			/etc/resolv.conf
			/home/u/w/PKGBUILD
			/opt/tool/bin/tool
			/proc/
			/dev/null %
			/tmp/`),
		Mounts: append(policy("/bin", "/sbin", "/lib", "/lib64", "/usr", "/etc/passwd", "/etc/resolv.conf", "/opt/tool"),
			bind(runtime.MountBindRW, "/home/u/w", "/home/u/w", "workspace")),
		Shows: map[string]string{
			"/bin/sh": "/usr/bin/bash", "/sbin/sh": "/usr/bin/bash", "/usr/sbin/sh": "/usr/bin/bash",
			"/lib64/ld-linux-x86-64.so.2": "/usr/lib/ld-linux-x86-64.so.2", "/usr/lib64/ld-linux-x86-64.so.2": "/usr/lib/ld-linux-x86-64.so.2",
			"/etc/resolv.conf": "/etc/resolv.conf", "/opt/tool/bin/tool": "/opt/tool/bin/tool", "/home/u/w/PKGBUILD": "/home/u/w/PKGBUILD",
		},
		Links: map[string]string{"/bin": "usr/bin", "/sbin": "usr/bin", "/lib": "usr/lib", "/lib64": "usr/lib"},
	}
}

func fedora() Layout {
	return Layout{
		Name: "fedora",
		Host: Parse(`
			/bin -> usr/bin
			/sbin -> usr/sbin
			/lib -> usr/lib
			/lib64 -> usr/lib64
			/usr/bin/bash
			/usr/bin/sh -> bash
			/usr/sbin -> bin
			/usr/lib/os-release
			/usr/lib64/ld-linux-x86-64.so.2
			/etc/os-release -> ../usr/lib/os-release
			/etc/pki/tls/cert.pem -> /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem
			/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem
			/etc/resolv.conf -> /run/NetworkManager/resolv.conf
			/run/NetworkManager/resolv.conf
			/home/u/w/x.spec
			/proc/
			/dev/null %
			/tmp/`),
		Mounts: append(policy("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/pki", "/etc/os-release", "/etc/resolv.conf"),
			bind(runtime.MountBindRO, "/home/u/w", "/workspace", "workspace")),
		Shows: map[string]string{
			"/bin/sh": "/usr/bin/bash", "/sbin/sh": "/usr/bin/bash", "/lib64/ld-linux-x86-64.so.2": "/usr/lib64/ld-linux-x86-64.so.2",
			"/etc/os-release": "/usr/lib/os-release", "/etc/pki/tls/cert.pem": "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
			"/etc/resolv.conf": "/run/NetworkManager/resolv.conf", "/workspace/x.spec": "/home/u/w/x.spec",
		},
		Links: map[string]string{"/sbin": "usr/sbin", "/etc/os-release": "../usr/lib/os-release", "/etc/resolv.conf": "/run/NetworkManager/resolv.conf"},
	}
}

func silverblue() Layout {
	return Layout{
		Name: "silverblue",
		Host: Parse(`
			/bin -> usr/bin
			/sbin -> usr/sbin
			/lib -> usr/lib
			/lib64 -> usr/lib64
			/opt -> var/opt
			/home -> var/home
			/root -> var/roothome
			/srv -> var/srv
			/ostree -> sysroot/ostree
			/usr/local -> ../var/usrlocal
			/usr/bin/bash
			/usr/bin/sh -> bash
			/usr/sbin/ldconfig
			/usr/lib/os-release
			/usr/lib64/ld-linux-x86-64.so.2
			/usr/etc/passwd
			/etc/passwd
			/etc/resolv.conf -> ../run/systemd/resolve/stub-resolv.conf
			/run/systemd/resolve/stub-resolv.conf
			/run/systemd/resolve/io.systemd.Resolve =
			/sysroot/ostree/repo/config
			/var/opt/google/chrome
			/var/usrlocal/bin/tool
			/var/home/u/w/main.rs
			/var/roothome/.bashrc
			/proc/
			/dev/null %
			/tmp/`),
		Mounts: append(policy("/usr", "/bin", "/lib64", "/lib", "/etc", "/opt", "/usr/local"),
			bind(runtime.MountBindRW, "/home/u/w", "/home/u/w", "workspace")),
		Shows: map[string]string{
			"/bin/sh": "/usr/bin/bash", "/opt/google/chrome": "/var/opt/google/chrome", "/usr/local/bin/tool": "/var/usrlocal/bin/tool",
			"/home/u/w/main.rs": "/var/home/u/w/main.rs", "/etc/resolv.conf": "/run/systemd/resolve/stub-resolv.conf",
			"/run/systemd/resolve/io.systemd.Resolve": "", "/sysroot/ostree/repo/config": "",
		},
		Links: map[string]string{"/bin": "usr/bin", "/usr/local": "../var/usrlocal"},
	}
}

func nixos() Layout {
	return Layout{
		Name: "nixos",
		Host: Parse(`
			/bin/sh -> /nix/store/aaa-bash/bin/sh
			/usr/bin/env -> /nix/store/bbb-coreutils/bin/env
			/nix/store/aaa-bash/bin/bash
			/nix/store/aaa-bash/bin/sh -> bash
			/nix/store/bbb-coreutils/bin/coreutils
			/nix/store/bbb-coreutils/bin/env -> coreutils
			/nix/store/ccc-system/sw/bin/env -> /nix/store/bbb-coreutils/bin/env
			/nix/store/ccc-system/etc -> /nix/store/ddd-etc/etc
			/nix/store/ddd-etc/etc/ssl/certs.pem -> /nix/store/eee-cacert/bundle.pem
			/nix/store/ddd-etc/etc/hosts
			/nix/store/eee-cacert/bundle.pem
			/run/current-system -> /nix/store/ccc-system
			/run/booted-system -> /nix/store/ccc-system
			/etc/static -> /nix/store/ddd-etc/etc
			/etc/ssl -> /etc/static/ssl
			/etc/hosts -> /etc/static/hosts
			/etc/passwd
			/etc/resolv.conf
			/nix/var/nix/daemon-socket/socket =
			/home/u/w/flake.nix
			/proc/
			/dev/null %
			/tmp/`),
		Mounts: append(policy("/nix/store", "/run/current-system", "/bin", "/usr/bin", "/etc/static", "/etc/ssl", "/etc/hosts", "/etc/passwd", "/lib64"),
			bind(runtime.MountBindRW, "/home/u/w", "/workspace", "workspace")),
		Shows: map[string]string{
			"/bin/sh": "/nix/store/aaa-bash/bin/bash", "/usr/bin/env": "/nix/store/bbb-coreutils/bin/coreutils",
			"/run/current-system/sw/bin/env": "/nix/store/bbb-coreutils/bin/coreutils", "/etc/ssl/certs.pem": "/nix/store/eee-cacert/bundle.pem",
			"/etc/hosts": "/nix/store/ddd-etc/etc/hosts", "/etc/passwd": "/etc/passwd", "/nix/var/nix/daemon-socket/socket": "",
		},
		Links: map[string]string{
			"/run/current-system": "/nix/store/ccc-system", "/etc/static": "/nix/store/ddd-etc/etc", "/etc/ssl": "/etc/static/ssl",
			"/etc/hosts": "/etc/static/hosts",
		},
	}
}
