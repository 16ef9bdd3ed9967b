package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/spec"
	"github.com/spf13/cobra"
)

// launchFlags are the flags of plan and run, as they were typed.
type launchFlags struct {
	backend, workspace, dir, network, image, stdin, script, state string
	hostname, user                                                string
	mounts, tmpfs, env, forward, limits, labels, credentials      []string
	timeout, idle, grace, start                                   time.Duration
}

func (f *launchFlags) register(c *cobra.Command) {
	p := c.Flags()
	p.SortFlags = false
	p.StringVar(&f.backend, "backend", "", "backend to use: "+strings.Join(backendNames(), ", ")+" (required)")
	p.StringVar(&f.workspace, "workspace", "", "directory the command works on, `DIR[:ro|:copy]`; its place inside is the working directory, and a copy is thrown away")
	p.StringArrayVar(&f.mounts, "mount", nil, "bind of a host path, `SRC:DST[:ro|:rw]`, read-only without a mode; repeatable")
	p.StringArrayVar(&f.tmpfs, "tmpfs", nil, "memory file system, `DST[:SIZE]`; repeatable")
	p.StringArrayVar(&f.env, "env", nil, "variable inside, `NAME=VALUE`; the policy must accept the name; repeatable")
	p.StringArrayVar(&f.forward, "forward", nil, "variable copied from here, `NAME`; the policy must accept it; repeatable")
	p.StringArrayVar(&f.credentials, "credential", nil, "credential, `ROLE=FILE`, read from a file; the policy says how it gets inside; repeatable")
	p.StringVar(&f.dir, "dir", "", "working directory inside, an absolute `PATH`")
	p.StringVar(&f.network, "network", "", "none or host")
	p.StringArrayVar(&f.limits, "limit", nil, "bound, `NAME=VALUE` (open-files=256, memory=512MiB, cpus=1.5); repeatable")
	p.DurationVar(&f.timeout, "timeout", 0, "most time from the command's start (exit 124)")
	p.DurationVar(&f.idle, "idle", 0, "most time without output (exit 124)")
	p.DurationVar(&f.grace, "grace", 0, "time between the first signal and the kill")
	p.DurationVar(&f.start, "start", 0, "most time until the command runs (exit 124)")
	p.StringVar(&f.image, "image", "", "image of an engine, `REF`")
	p.StringVar(&f.stdin, "stdin", "none", "none or pipe")
	p.StringVar(&f.script, "script", "", "script `FILE` to run; COMMAND is its interpreter (/bin/sh without one)")
	p.StringVar(&f.hostname, "hostname", "", "host `NAME` inside")
	p.StringVar(&f.user, "user", "", "user inside: image, caller or `UID:GID`")
	p.StringArrayVar(&f.labels, "label", nil, "label on the container, `NAME=VALUE`; repeatable")
	stateFlag(c, &f.state)
}

// launch reads the flags into a Launch.
func (f *launchFlags) launch(args []string) (sbx.Launch, error) {
	l := sbx.Launch{Argv: args, Dir: f.dir, Hostname: f.hostname, Image: sbx.Image{Ref: f.image}, Network: sbx.Network{Mode: sbx.NetworkMode(f.network)},
		Timeouts: sbx.Timeouts{Wall: f.timeout, Idle: f.idle, Grace: f.grace, Start: f.start}, Env: sbx.Environment{Forward: f.forward}}
	for _, step := range []func(*sbx.Launch) error{f.readScript, f.readWorkspace, f.readMounts, f.readEnv, f.readLimits, f.readStdin, f.readUser} {
		if err := step(&l); err != nil {
			return l, usageError{err}
		}
	}
	return l, nil
}

func (f *launchFlags) readScript(l *sbx.Launch) error {
	if f.script == "" {
		if len(l.Argv) == 0 {
			return fmt.Errorf("no command: put it after --")
		}
		return nil
	}
	text, err := os.ReadFile(f.script)
	if err != nil {
		return fmt.Errorf("reading --script: %w", err)
	}
	l.Script = &sbx.Script{Interpreter: l.Argv, Text: text}
	if len(l.Argv) == 0 {
		l.Script.Interpreter = []string{"/bin/sh"}
	}
	l.Argv = nil
	return nil
}

func (f *launchFlags) readWorkspace(l *sbx.Launch) error {
	if f.workspace == "" {
		return nil
	}
	w := &sbx.Workspace{Source: f.workspace, Mode: sbx.WorkspaceBindRW}
	if s, ok := strings.CutSuffix(f.workspace, ":ro"); ok {
		w.Source, w.Mode = s, sbx.WorkspaceBindRO
	} else if s, ok := strings.CutSuffix(f.workspace, ":copy"); ok {
		w.Source, w.Mode = s, sbx.WorkspaceCopy
	}
	var err error
	if w.Source, err = filepath.Abs(w.Source); err != nil {
		return fmt.Errorf("--workspace: %w", err)
	}
	l.Workspace = w
	return nil
}

// splitMount reads SRC:DST[:ro|:rw]. The destination is absolute, so the last ":/" parts the two; a source may hold colons.
func splitMount(text string) (source, target string, kind sbx.MountKind, err error) {
	kind = sbx.MountBindRO
	rest := text
	if s, ok := strings.CutSuffix(text, ":rw"); ok {
		rest, kind = s, sbx.MountBindRW
	} else if s, ok := strings.CutSuffix(text, ":ro"); ok {
		rest = s
	}
	i := strings.LastIndex(rest, ":/")
	if i <= 0 {
		return "", "", "", fmt.Errorf("--mount %q is not SRC:DST[:ro|:rw] with an absolute DST", text)
	}
	return rest[:i], rest[i+1:], kind, nil
}

func (f *launchFlags) readMounts(l *sbx.Launch) error {
	for _, m := range f.mounts {
		source, target, kind, err := splitMount(m)
		if err != nil {
			return err
		}
		if source, err = filepath.Abs(source); err != nil {
			return fmt.Errorf("--mount: %w", err)
		}
		l.Mounts = append(l.Mounts, sbx.Mount{Kind: kind, Source: source, Target: target})
	}
	for _, t := range f.tmpfs {
		m := sbx.Mount{Kind: sbx.MountTmpfs, Target: t}
		if i := strings.LastIndexByte(t, ':'); i > 0 {
			n, err := spec.ParseSize(t[i+1:])
			if err != nil {
				return fmt.Errorf("--tmpfs %q: %w", t, err)
			}
			m.Target, m.Size = t[:i], int64(n)
		}
		l.Mounts = append(l.Mounts, m)
	}
	return nil
}

// pair parts NAME=VALUE; the value is not in the error, since it may be a secret typed in the wrong place.
func pair(flag, text string) (name, value string, err error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return "", "", fmt.Errorf("%s needs NAME=VALUE", flag)
	}
	return name, value, nil
}

func (f *launchFlags) readEnv(l *sbx.Launch) error {
	for _, e := range f.env {
		name, value, err := pair("--env", e)
		if err != nil {
			return err
		}
		if l.Env.Set == nil {
			l.Env.Set = map[string]string{}
		}
		l.Env.Set[name] = value
	}
	for _, e := range f.credentials {
		role, file, err := pair("--credential", e)
		if err != nil {
			return err
		}
		value, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("--credential %s: %w", role, err)
		}
		if l.Credentials == nil {
			l.Credentials = map[string]sbx.Credential{}
		}
		l.Credentials[role] = sbx.Credential{Value: value}
	}
	for _, e := range f.labels {
		name, value, err := pair("--label", e)
		if err != nil {
			return err
		}
		if l.Labels == nil {
			l.Labels = map[string]string{}
		}
		l.Labels[name] = value
	}
	return nil
}

func (f *launchFlags) readLimits(l *sbx.Launch) error {
	for _, e := range f.limits {
		name, value, err := pair("--limit", e)
		if err != nil {
			return err
		}
		name = strings.TrimPrefix(name, "limits.")
		if name == "cpuset" {
			l.Limits.CPUSet = value
			continue
		}
		soft, hard, err := spec.ParseLimit("limits."+name, value)
		if err != nil {
			return fmt.Errorf("--limit %s: %w", name, err)
		}
		if !l.Limits.Put("limits."+name, &sbx.Limit{Soft: soft, Hard: hard}) {
			return fmt.Errorf("--limit: no limit is called %q", name)
		}
	}
	return nil
}

func (f *launchFlags) readStdin(l *sbx.Launch) error {
	switch f.stdin {
	case "none", "pipe":
		l.Stdin.Mode = sbx.StdinMode(f.stdin)
		return nil
	}
	return fmt.Errorf("--stdin %q is neither none nor pipe", f.stdin)
}

func (f *launchFlags) readUser(l *sbx.Launch) error {
	switch f.user {
	case "":
	case "image", "caller":
		l.User.Kind = sbx.UserKind(f.user)
	default:
		uid, gid, _ := strings.Cut(f.user, ":")
		if gid == "" {
			gid = uid
		}
		u, errU := strconv.Atoi(uid)
		g, errG := strconv.Atoi(gid)
		if errU != nil || errG != nil {
			return fmt.Errorf("--user %q is not image, caller or UID:GID", f.user)
		}
		l.User = sbx.User{Kind: sbx.UserID, UID: u, GID: g}
	}
	return nil
}
