package gen

import (
	"context"
	"os"
	"testing"

	"github.com/sbxkit/sbxkit/spec"
)

func TestDump(t *testing.T) {
	ps, err := Generate(context.Background(), []*spec.Backend{sample()}, Options{Module: "..", Out: "generated"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range ps[0].Files {
		os.Stdout.WriteString("=== " + f.Name + "\n" + string(f.Content))
	}
}
