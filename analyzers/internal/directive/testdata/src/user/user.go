// Package user uses them.
package user

import (
	"local"
	"objects"
)

type launch = objects.Launch

var (
	pointer  *objects.Launch
	alias    launch
	instance objects.Generic[int]
)

var _ = local.Used
