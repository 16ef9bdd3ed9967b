package runtime_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// TestMain asks for 10,000 schedules where the command line does not say otherwise; without the race detector that is four seconds.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given && !testing.Short() {
		if err := flag.Set("rapid.checks", "10000"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}
