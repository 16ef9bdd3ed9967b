package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	sbx "github.com/sbxkit/sbxkit/runtime"
	"github.com/spf13/cobra"
)

func runCommand(s streams) *cobra.Command {
	var f launchFlags
	var result string
	c := &cobra.Command{
		Use:   "run --backend NAME [flags] -- COMMAND...",
		Short: "Run a command in a sandbox and exit with its code",
		Long: `Run a command in a sandbox, stream its output, and exit with its code: 128+n for signal n, 124 timed out, 125 the sandbox failed,
126 not executable and 127 not found inside.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) (err error) {
			l, err := f.launch(args)
			if err != nil {
				return err
			}
			if l.Stdin.Mode == sbx.StdinPipe {
				l.Stdin.Reader = s.in
			}
			l.Stdout, l.Stderr = s.out, s.err
			box, err := open(c.Context(), f.backend, f.state)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, box.Close()) }()
			//sbx:allow lostfailure the result carries the failure, and both its message and its code reach the caller
			res, failure := box.Run(c.Context(), l)
			if result != "" {
				if werr := writeResult(result, res); werr != nil {
					fmt.Fprintf(s.err, "sbxctl: %v\n", werr)
					if failure == nil {
						return exitError{125}
					}
				}
			}
			code := res.ExitCode()
			if failure != nil {
				fmt.Fprintf(s.err, "sbxctl: %v\n", failure)
			} else if res.Evidence.Cause != "" {
				fmt.Fprintf(s.err, "sbxctl: %s: %s\n", res, res.Evidence.Cause)
			}
			if code != 0 {
				return exitError{code}
			}
			return nil
		},
	}
	f.register(c)
	c.Flags().StringVar(&result, "result", "", "write the Result as JSON to `FILE`")
	return c
}

func writeResult(path string, r *sbx.Result) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("writing --result: %w", err)
	}
	if err := os.WriteFile(path, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing --result: %w", err)
	}
	return nil
}
