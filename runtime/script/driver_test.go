package script_test

import (
	"context"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/script"
)

// driverDescription supports what these launches ask for.
func driverDescription() *runtime.Description {
	d := *description
	for _, name := range runtime.Vocabulary() {
		d.Features = append(d.Features, runtime.Feature{Name: name, How: runtime.HowBy, By: "script"})
	}
	d.Policy.Environment.Accept = []string{"*"}
	return &d
}
