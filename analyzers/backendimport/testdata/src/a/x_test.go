package a_test

import (
	_ "example.com/primitives" // want `import of backend primitives`
	"testing"
)

func TestOutside(t *testing.T) {}
