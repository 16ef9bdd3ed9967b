package a

import (
	"example.com/backend"         // want `import of sandbox backend "example.com/backend" outside the seam`
	. "example.com/backend"       // want `import of sandbox backend`
	_ "example.com/backend"       // want `import of sandbox backend`
	allowed "example.com/backend" //sbx:allow backendimport the test wants one that is allowed
	renamed "example.com/backend" // want `import of sandbox backend`
	"example.com/primitives"      // want `import of backend primitives "example.com/primitives" outside the seam`
)

var _ = backend.New() + New() + renamed.New() + allowed.New()

func f() { primitives.Spawn() }
