// Package many keeps one error in a variable that lives in memory, and says something about it again and again: what the variable says is found
// once, and not along every way through the assignments.
package many

import (
	"context"
	"fmt"
	"os/exec"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

func again(ctx context.Context, s *sbx.Sandbox, argv []string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("again: %w", err)
		}
	}()
	_, err = s.Run(ctx, sbx.Launch{Argv: argv})
	if len(argv) > 1 {
		err = fmt.Errorf("1: %w", err)
	}
	if len(argv) > 2 {
		err = fmt.Errorf("2: %w", err)
	}
	if len(argv) > 3 {
		err = fmt.Errorf("3: %w", err)
	}
	if len(argv) > 4 {
		err = fmt.Errorf("4: %w", err)
	}
	if len(argv) > 5 {
		err = fmt.Errorf("5: %w", err)
	}
	if len(argv) > 6 {
		err = fmt.Errorf("6: %w", err)
	}
	if len(argv) > 7 {
		err = fmt.Errorf("7: %w", err)
	}
	if len(argv) > 8 {
		err = fmt.Errorf("8: %w", err)
	}
	if len(argv) > 9 {
		err = fmt.Errorf("9: %w", err)
	}
	if len(argv) > 10 {
		err = fmt.Errorf("10: %w", err)
	}
	if len(argv) > 11 {
		err = fmt.Errorf("11: %w", err)
	}
	if len(argv) > 12 {
		err = fmt.Errorf("12: %w", err)
	}
	if len(argv) > 13 {
		err = fmt.Errorf("13: %w", err)
	}
	if len(argv) > 14 {
		err = fmt.Errorf("14: %w", err)
	}
	if len(argv) > 15 {
		err = fmt.Errorf("15: %w", err)
	}
	if len(argv) > 16 {
		err = fmt.Errorf("16: %w", err)
	}
	if len(argv) > 17 {
		err = fmt.Errorf("17: %w", err)
	}
	if len(argv) > 18 {
		err = fmt.Errorf("18: %w", err)
	}
	if len(argv) > 19 {
		err = fmt.Errorf("19: %w", err)
	}
	if len(argv) > 20 {
		err = fmt.Errorf("20: %w", err)
	}
	if len(argv) > 21 {
		err = fmt.Errorf("21: %w", err)
	}
	if len(argv) > 22 {
		err = fmt.Errorf("22: %w", err)
	}
	if len(argv) > 23 {
		err = fmt.Errorf("23: %w", err)
	}
	if len(argv) > 24 {
		err = fmt.Errorf("24: %w", err)
	}
	if err != nil {
		return exec.Command(argv[0], argv[1:]...).Run() // want `where Sandbox.Run has failed, starts the command`
	}
	return nil
}
