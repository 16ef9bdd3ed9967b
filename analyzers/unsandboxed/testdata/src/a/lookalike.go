package a

import (
	"context"
	"fmt"
	"log"
	"os/exec"

	"detect"
	"wrap"

	"example.com/bwrap"
	"example.com/local"
	sbx "github.com/sbxkit/sbxkit/runtime"
)

func refused(ctx context.Context, s *sbx.Sandbox, argv []string) error {
	if _, err := s.Probe(ctx); err != nil {
		return fmt.Errorf("no sandbox for %v: %w", argv, err)
	}
	_, err := s.Run(ctx, sbx.Launch{Argv: argv})
	return err
}

// What is started has nothing to do with the launch.
func unrelated(ctx context.Context, s *sbx.Sandbox, dir string, argv []string) error {
	if _, err := s.Run(ctx, sbx.Launch{Argv: argv}); err != nil {
		exec.Command("git", "-C", dir, "status").Run()
		exec.Command("logger", err.Error()).Run()
		exec.Command("git", argv...).Run()
		return err
	}
	return nil
}

func unrelatedProbe(ctx context.Context, s *sbx.Sandbox, notify string) error {
	if _, err := s.Probe(ctx); err != nil {
		exec.Command("systemctl", "status", "docker").Run()
		return err
	}
	return nil
}

// A tool of the caller's choice is asked for its version, or told what happened.
func asked(tool, dir string) string {
	if _, err := exec.LookPath("bwrap"); err != nil {
		exec.Command(tool, "failed", err.Error()).Run()
		out, _ := exec.Command(tool, "--version").Output()
		return string(out)
	}
	exec.Command(tool, "ok").Run()
	return dir
}

// The sandbox is cleaned up after by other means.
func cleanedUp(ctx context.Context, s *sbx.Sandbox, name string, argv []string) error {
	r, err := s.Launch(ctx, sbx.Launch{Argv: argv})
	if err != nil {
		removeAll(name)
		return err
	}
	if _, err := r.Wait(ctx); err != nil {
		exec.Command("docker", "rm", "-f", name).Run()
		exec.Command("sudo", "umount", name).Run()
		return err
	}
	return nil
}

func removeAll(name string) { exec.Command("rm", "-rf", name).Run() }

// A failure is told by the caller's own hook, which is no argument list of a launch.
func hooked(ctx context.Context, s *sbx.Sandbox, l sbx.Launch, hook []string) error {
	_, err := s.Run(ctx, l)
	if err != nil {
		exec.Command("logger", hook...).Run()
	}
	return err
}

// The sandbox of another kind is installed.
func install(pkg string) error {
	if _, err := exec.LookPath("bwrap"); err != nil {
		return exec.Command("sudo", "apt-get", "install", "-y", pkg).Run()
	}
	return nil
}

// The other backend is a sandbox.
func nextSandbox(ctx context.Context, s *sbx.Sandbox) (sbx.Backend, error) {
	if _, err := s.Probe(ctx); err != nil {
		return bwrap.New(bwrap.Options{})
	}
	return nil, nil
}

func nextProgram(argv []string) error {
	if err := exec.Command("podman", argv...).Run(); err != nil {
		return exec.Command("docker", argv...).Run()
	}
	return nil
}

// The choice is the caller's, and not made by a failure.
func openly(ctx context.Context, without bool, argv []string) (sbx.Backend, error) {
	if without {
		return local.New(local.Options{})
	}
	b, err := bwrap.New(bwrap.Options{})
	if err != nil {
		return nil, err
	}
	return b, nil
}

// It runs on success, or either way.
func always(ctx context.Context, s *sbx.Sandbox, argv []string) error {
	_, err := s.Run(ctx, sbx.Launch{Argv: argv})
	if err != nil {
		log.Print(err)
	}
	return exec.Command(argv[0], argv[1:]...).Run()
}

func onSuccess(ctx context.Context, s *sbx.Sandbox, argv []string) error {
	if err := detect.Ready(ctx, s); err != nil {
		return err
	}
	if detect.Available() {
		return wrap.Host(argv)
	}
	return nil
}

// An error of another kind.
func other(path string, argv []string) error {
	if _, err := exec.LookPath("git"); err != nil {
		return exec.Command(argv[0], argv[1:]...).Run()
	}
	if err := exec.Command("make").Run(); err != nil {
		return exec.Command(argv[0], argv[1:]...).Run()
	}
	return nil
}

// The list is returned with the error.
func withError(argv []string) ([]string, error) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		return argv, err
	}
	return append([]string{"bwrap"}, argv...), nil
}

// A loop over backends that are all tried, and one over sandboxes alone.
func all(ctx context.Context) {
	for _, name := range []string{"bwrap", "local"} {
		b, err := open(name)
		if err != nil {
			log.Print(err)
			continue
		}
		if _, err := b.Probe(ctx); err != nil {
			log.Print(err)
		}
	}
}

func firstSandbox(ctx context.Context, list []sbx.Backend) sbx.Backend {
	for _, b := range list {
		if _, err := b.Probe(ctx); err == nil {
			return b
		}
	}
	return nil
}

func firstFailureEnds(ctx context.Context) error {
	for _, name := range []string{"bwrap", "local"} {
		b, err := open(name)
		if err != nil {
			return err
		}
		if _, err := b.Probe(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A queue goes on with the next job.
func queue(ctx context.Context, s *sbx.Sandbox, jobs [][]string) {
	for _, argv := range jobs {
		if _, err := s.Run(ctx, sbx.Launch{Argv: argv}); err != nil {
			log.Print(err)
			continue
		}
	}
	exec.Command("make", "report").Run()
}
