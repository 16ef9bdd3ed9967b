// Testreport runs go test and says truthfully what happened: failures with their
// output, every skipped test with its reason, and last the line
//
//	N passed, N failed, N skipped
//
// A test is one that has no subtests; a parent counts only when it failed or was
// skipped by itself. A package that does not build, or that ends before its tests
// do, is a failure. The exit status is 1 when anything failed, and also when
// nothing ran.
//
//	go run ./hack/testreport [FLAG OF GO TEST | PACKAGE]...
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

func main() {
	code, err := run(".", os.Args[1:], os.Stdout, os.Stderr)
	if err != nil {
		fmt.Fprintf(os.Stderr, "testreport: %v\n", err)
		os.Exit(1)
	}
	os.Exit(code)
}

// run runs go test -json with args in dir and returns the exit status of the report.
func run(dir string, args []string, out, errs io.Writer) (int, error) {
	test := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	test.Dir, test.Stderr = dir, errs
	events, err := test.StdoutPipe()
	if err != nil {
		return 0, fmt.Errorf("reading go test: %w", err)
	}
	if err := test.Start(); err != nil {
		return 0, fmt.Errorf("starting go test: %w", err)
	}
	report := newReport(out)
	readErr := report.read(events)
	waitErr := test.Wait()
	if readErr != nil {
		return 0, fmt.Errorf("reading go test: %w", readErr)
	}
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) {
		return 0, fmt.Errorf("running go test: %w", waitErr)
	}
	return report.finish(waitErr), nil
}
