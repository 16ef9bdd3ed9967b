package journal_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/journal"
)

// The tests run themselves again as other processes: SBX_JOURNAL_CHILD names what such a process does, its arguments follow.
func TestMain(m *testing.M) {
	if name := os.Getenv("SBX_JOURNAL_CHILD"); name != "" {
		if err := children[name](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var children = map[string]func(args []string) error{
	"hold": childHold, "list": childList, "busy": childBusy, "update": childUpdate, "churn": childChurn, "full": childFull, "readonly": childReadOnly, "user": childUser,
}

func child(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "SBX_JOURNAL_CHILD="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

func small(j *journal.Journal, id string, step runtime.Step) runtime.Record {
	run := runtime.RunName{ID: id, Owner: j.Owner()}
	return runtime.Record{Run: run, Backend: "fake", Step: step, Token: runtime.Token{Run: run}}
}
