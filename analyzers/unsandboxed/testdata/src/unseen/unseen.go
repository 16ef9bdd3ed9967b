// Package unseen holds fallbacks that the rule does not see today. Each is wrong; what the rule comes to see one day gets a want.
package unseen

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"

	"picks"

	"example.com/bwrap"
	"example.com/local"
	sbx "github.com/sbxkit/sbxkit/runtime"
)

// A failure told through a channel, and through a collection.
func channel(ctx context.Context, s *sbx.Sandbox, argv []string) error {
	failed := make(chan error, 1)
	_, err := s.Run(ctx, sbx.Launch{Argv: argv})
	failed <- err
	if <-failed != nil {
		return exec.Command(argv[0], argv[1:]...).Run()
	}
	return nil
}

func collection(ctx context.Context, s *sbx.Sandbox, argv []string) error {
	errs := map[string]error{}
	_, errs["run"] = s.Run(ctx, sbx.Launch{Argv: argv})
	if errs["run"] != nil {
		return exec.Command(argv[0], argv[1:]...).Run()
	}
	return nil
}

// A failure told by a plain number, and by an exit code.
func number(ctx context.Context, s *sbx.Sandbox, argv []string) error {
	if status(ctx, s) == 3 {
		return exec.Command(argv[0], argv[1:]...).Run()
	}
	return nil
}

func status(ctx context.Context, s *sbx.Sandbox) int {
	if _, err := s.Probe(ctx); err != nil {
		return 3
	}
	return 0
}

func exitCode(ctx context.Context, s *sbx.Sandbox, argv []string) error {
	res, err := s.Run(ctx, sbx.Launch{Argv: argv})
	if err == nil && res.Code == 126 {
		return exec.Command(argv[0], argv[1:]...).Run()
	}
	return err
}

// A sandbox that nobody knows.
func foreign(argv []string) error {
	if err := exec.Command("my-jail", argv...).Run(); err != nil {
		return exec.Command(argv[0], argv[1:]...).Run()
	}
	return nil
}

// A fallback that is written down for the next start.
func nextTime(ctx context.Context, s *sbx.Sandbox) error {
	if _, err := s.Probe(ctx); err != nil {
		data, err := json.Marshal(map[string]string{"backend": "local"})
		if err != nil {
			return err
		}
		return os.WriteFile("config.json", data, 0o600)
	}
	return nil
}

// A command put together again from other text.
func rebuilt(ctx context.Context, s *sbx.Sandbox, dir string) error {
	if _, err := s.Run(ctx, sbx.Launch{Argv: words("launch")}); err != nil {
		argv := words("host")
		return exec.Command(argv[0], argv[1:]...).Run()
	}
	return nil
}

func words(of string) []string { return strings.Fields(os.Getenv(of)) }

// A constant command that another package starts.
func constantElsewhere(ctx context.Context, s *sbx.Sandbox) error {
	if _, err := s.Run(ctx, sbx.Launch{Argv: []string{"make", "test"}}); err != nil {
		return picks.Make()
	}
	return nil
}

// What another package keeps in a variable, or picks from a list.
func variableElsewhere(ctx context.Context, b sbx.Backend) sbx.Backend {
	if _, err := b.Probe(ctx); err != nil {
		return picks.Fallback
	}
	return b
}

func pickedElsewhere(ctx context.Context) sbx.Backend {
	bw, _ := bwrap.New(bwrap.Options{})
	l, _ := local.New(local.Options{})
	return picks.First(ctx, bw, l)
}

// A loop by recursion.
func recursion(ctx context.Context, list []sbx.Backend) sbx.Backend {
	if len(list) == 0 {
		return nil
	}
	if _, err := list[0].Probe(ctx); err != nil {
		return recursion(ctx, list[1:])
	}
	return list[0]
}

func recursionStart(ctx context.Context) sbx.Backend {
	bw, _ := bwrap.New(bwrap.Options{})
	l, _ := local.New(local.Options{})
	return recursion(ctx, []sbx.Backend{bw, l})
}

// A second try by another value behind the same interface, which may run it anywhere.
func tryBoth(ctx context.Context, first, second picks.Runner, l sbx.Launch) error {
	if err := first.Run(ctx, l); err != nil {
		return second.Run(ctx, l)
	}
	return nil
}
