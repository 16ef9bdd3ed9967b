package seam_test

import (
	_ "example.com/backend"
	_ "seam"
	"testing"
)

func Test(t *testing.T) {}
