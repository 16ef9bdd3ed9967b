package own_test

import (
	_ "example.com/backend"
	_ "own"
	"testing"
)

func Test(t *testing.T) {}
