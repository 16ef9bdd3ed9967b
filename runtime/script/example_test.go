package script_test

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/script"
)

// A command that ignores SIGTERM, over an engine that is slow to make its container. A test does the same in a synctest bubble, with the
// times that are meant.
func Example() {
	def := definition(nil, &script.Script{
		Do:     []script.Action{script.Stdout("working\n"), script.Hang()},
		Ignore: []syscall.Signal{syscall.SIGTERM},
		Faults: []script.Fault{script.Slow(script.OnPrepare, time.Millisecond)},
	})
	def.Description = driverDescription()
	def.Description.Stop = []runtime.StopRung{{Signal: int(syscall.SIGTERM), Grace: 10 * time.Millisecond}, {}}
	b, _ := script.New(def)
	defer b.World().Close()
	sb, _ := runtime.New(b)
	res, err := sb.Run(context.Background(), runtime.Launch{Argv: []string{"job"}, Timeouts: runtime.Timeouts{Wall: 20 * time.Millisecond}})
	run := b.World().Runs()[0]
	fmt.Println(res, err, run.Stdout, run.Signals, b.World().Check())
	// Output: timed out (wall) <nil> working
	//  [terminated] <nil>
}
