// Package unseen holds what the rule does not see today. Each is wrong; what the rule comes to see one day gets a want.
package unseen

import (
	_ "bare"
	"plugin"
	_ "unsafe"
)

// A backend as a plugin, and one by linkname.
func open() (*plugin.Plugin, error) { return plugin.Open("docker.so") }

//go:linkname start example.com/backend.New
func start() int
