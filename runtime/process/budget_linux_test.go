package process

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/mounts"
)

// wide gives a launch whose argv has n words after the first, by what is to be many.
func wide(t *testing.T, b *Backend, kind string, n int) runtime.Launch {
	t.Helper()
	l := runtime.Launch{Argv: []string{"true"}}
	each := 1
	argv := []string{"true"}
	add := func(int) { argv = append(argv, "x") }
	switch kind {
	case "variables":
		each = 3
		l.Env.Set = map[string]string{}
		add = func(i int) { l.Env.Set[fmt.Sprintf("V%d", i)] = "x" }
	case "mounts":
		each = 2
		add = func(i int) {
			l.Mounts = append(l.Mounts, runtime.Mount{Kind: runtime.MountTmpfs, Target: fmt.Sprintf("/m%d", i)})
		}
	case "mounts with a size and a mode":
		each = 4 // of the builder here, which leaves the mode out
		add = func(i int) {
			l.Mounts = append(l.Mounts, runtime.Mount{Kind: runtime.MountTmpfs, Target: fmt.Sprintf("/m%d", i), Size: 4096, Mode: 0o700})
		}
	}
	used := len(plan(t, b, l, runtime.RunName{}).Argv()) - 1
	for i := range (n - used) / each {
		add(i)
	}
	for range (n - used) % each {
		argv = append(argv, "x")
	}
	l.Argv = argv
	return l
}

// TestTheWordBudgetIsExact fills what bubblewrap takes to the last word, by each thing that takes words, and then asks for one more.
func TestTheWordBudgetIsExact(t *testing.T) {
	b := backend(t, bwrapDefinition())
	for _, kind := range []string{"arguments", "variables", "mounts", "mounts with a size and a mode"} {
		t.Run(kind, func(t *testing.T) {
			full := wide(t, b, kind, maxWords)
			if n := len(plan(t, b, full, runtime.RunName{}).Argv()) - 1; n != maxWords {
				t.Fatalf("%d words", n)
			}
			if !strings.HasPrefix(kind, "mounts") { // thousands of them take the kernel a minute
				if e := begin(t, b, full).wait(t); e.Code != 0 {
					t.Errorf("exit %+v", e)
				}
			}
			full.Argv = append(slices.Clip(full.Argv), "x")
			_, err := tryPlan(t, b, full, runtime.RunName{})
			if !errors.Is(err, runtime.ErrUnsupported) || runtime.AsFailure(err, runtime.Setup).Step != runtime.StepPlan {
				t.Errorf("one word more: %v", err)
			}
		})
	}
}

// TestTheProgramsOwnBoundIsTheBudget asks bubblewrap itself.
func TestTheProgramsOwnBoundIsTheBudget(t *testing.T) {
	program, err := exec.LookPath("bwrap")
	if err != nil {
		t.Skip(err)
	}
	words := make([]string, maxWords)
	for i := range words {
		words[i] = "--new-session" // repeats itself to no effect
	}
	words[len(words)-1] = "--version"
	if out, err := exec.Command(program, words...).CombinedOutput(); err != nil {
		t.Errorf("%d words: %v, %s", maxWords, err, out)
	}
	if out, err := exec.Command(program, append([]string{"--new-session"}, words...)...).CombinedOutput(); err == nil {
		t.Errorf("%d words: %s", maxWords+1, out)
	}
}

// TestAWordIsAsLongAsTheKernelTakes launches with the longest argument and variable there can be, and refuses longer ones before anything starts.
func TestAWordIsAsLongAsTheKernelTakes(t *testing.T) {
	long := strings.Repeat("x", mounts.DefaultWordBytes)
	both(t, func(t *testing.T, b *Backend) {
		l := runtime.Launch{Argv: []string{"true", long}}
		l.Env.Set = map[string]string{"V": long[2:]}
		if e := begin(t, b, l).wait(t); e.Code != 0 {
			t.Errorf("exit %+v", e)
		}
		argument, variable := l, l
		argument.Argv = []string{"true", long + "x"}
		variable.Env.Set = map[string]string{"V": long[1:]}
		for feature, l := range map[string]runtime.Launch{"command": argument, "environment": variable} {
			_, err := tryPlan(t, b, l, runtime.RunName{})
			f := runtime.AsFailure(err, runtime.Setup)
			if !errors.Is(err, runtime.ErrUnsupported) || f.Step != runtime.StepPlan || f.Feature != feature || f.Cure == "" {
				t.Errorf("%s: %v", feature, err)
			}
		}
	})
}

// TestNoDescriptorIsPlannedTwice counts what a launch with everything that takes a descriptor has, below and above where the command's own begin.
func TestNoDescriptorIsPlannedTwice(t *testing.T) {
	b := backend(t, bwrapDefinition())
	for _, files := range []int{0, 1, 12, 13, 14, 15, 200} {
		l := runtime.Launch{
			Argv: []string{"true"}, Hardening: runtime.Hardening{Seccomp: filterDefault},
			Credentials: map[string]runtime.Credential{"fd": {Value: []byte("x")}, "file": {Value: []byte("y")}},
			Heartbeat:   time.Minute, Ready: &runtime.Ready{Notify: true},
		}
		for i := range files {
			l.Mounts = append(l.Mounts, runtime.Mount{Kind: runtime.MountFile, Target: fmt.Sprintf("/f%d", i), Data: []byte("x")})
		}
		r := plan(t, b, l, runtime.RunName{}).Request
		d := r.Descriptors
		all := []int{0, 1, 2, d.Args, d.Block, d.Status, d.Seccomp, d.Heartbeat, d.Notify}
		for _, c := range r.Credentials {
			if c.Descriptor > 0 {
				all = append(all, c.Descriptor)
			}
		}
		for _, m := range r.Mounts {
			if m.Kind == runtime.MountFile {
				all = append(all, m.Descriptor)
			}
		}
		slices.Sort(all)
		if len(all) != 9+1+1+files || all[3] != ArgsDescriptor || len(slices.Compact(slices.Clone(all))) != len(all) {
			t.Errorf("%d files: %v", files, all)
		}
	}
}
