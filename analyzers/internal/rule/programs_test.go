package rule

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sbxkit/sbxkit/spec"
)

var update = flag.Bool("update", false, "write programs.txt anew")

func TestDefaultProgramsAreThoseOfTheSpecs(t *testing.T) {
	want, err := spec.Programs()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("programs.txt", []byte(strings.Join(want, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, DefaultPrograms()); diff != "" {
		t.Errorf("programs.txt is stale; run: go test ./analyzers/internal/rule -update\n%s", diff)
	}
}
