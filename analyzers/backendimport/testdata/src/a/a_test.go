package a

import (
	_ "example.com/backend" // want `import of sandbox backend`
	"testing"
)

func Test(t *testing.T) {}
