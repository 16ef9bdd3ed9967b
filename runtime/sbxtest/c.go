package sbxtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

// C is what a check works with. Errorf may be called from any goroutine; Fatalf, Gap and what can fail like them only from the check's own.
type C struct {
	check    Check
	subject  *Subject
	identity *runtime.Identity
	ctx      context.Context

	mu       sync.Mutex
	problems []string
	gap      string
	cleanups []func()
	stands   []*stand
	closed   bool
}

// Errorf says what does not hold.
func (c *C) Errorf(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// Fatalf says what does not hold, and ends the check.
func (c *C) Fatalf(format string, args ...any) {
	c.Errorf(format, args...)
	panic(stop{})
}

// Gap ends the check: it can say nothing of this backend or host, for that reason.
func (c *C) Gap(format string, args ...any) {
	c.mu.Lock()
	c.gap = fmt.Sprintf(format, args...)
	c.mu.Unlock()
	panic(stop{})
}

// must ends the check on an error.
func (c *C) must(err error, doing string) {
	if err != nil {
		c.Fatalf("%s: %v", doing, err)
	}
}

// cleanup calls f at the end of the check, the last one first.
func (c *C) cleanup(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cleanups = append(c.cleanups, f)
}

// settle ends what the check left, looks that nothing of it remains, and calls the cleanups.
func (c *C) settle() {
	c.mu.Lock()
	stands := c.stands
	c.mu.Unlock()
	for _, st := range stands {
		c.guard(st.settle)
	}
	c.mu.Lock()
	list := c.cleanups
	c.cleanups = nil
	c.mu.Unlock()
	for i := len(list) - 1; i >= 0; i-- {
		c.guard(list[i])
	}
}

// abort lets go of everything the check holds, so that it can end.
func (c *C) abort() {
	c.mu.Lock()
	stands := c.stands
	c.mu.Unlock()
	for _, st := range stands {
		st.letGo()
	}
	c.close()
}

// close closes the subject.
func (c *C) close() {
	c.mu.Lock()
	closed := c.closed
	c.closed = true
	c.mu.Unlock()
	if closed || c.subject.Close == nil {
		return
	}
	if err := c.subject.Close(); err != nil {
		c.Errorf("closing the subject: %v", err)
	}
}

// dir makes a directory of the check's own.
func (c *C) dir() string {
	d, err := os.MkdirTemp("", "sbxtest-")
	c.must(err, "making a directory")
	// A command inside may have another id and must get there.
	c.must(os.Chmod(d, 0o755), "opening a directory")
	c.cleanup(func() {
		if err := os.RemoveAll(d); err != nil {
			c.Errorf("removing the check's directory: %v", err)
		}
	})
	if d, err = filepath.EvalSymlinks(d); err != nil {
		c.Fatalf("resolving a directory: %v", err)
	}
	return d
}

// file writes a file that everybody may read, and gives its path.
func (c *C) file(dir, name, text string) string {
	p := filepath.Join(dir, name)
	c.must(os.WriteFile(p, []byte(text), 0o644), "writing a file")
	return p
}

// await waits until ok holds; there is no event for what it asks.
func (c *C) await(what string, ok func() bool) {
	deadline := time.Now().Add(30 * time.Second)
	for !ok() {
		if time.Now().After(deadline) || c.ctx.Err() != nil {
			c.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// word is a random word that stands nowhere else.
func word(prefix string) string {
	var b [8]byte
	rand.Read(b[:])
	return prefix + hex.EncodeToString(b[:])
}

// argv spells a program for this backend; a program it has no words for is a gap.
func (c *C) argv(p ...Act) []string {
	spell := c.subject.Commands
	if spell == nil {
		spell = Shell
	}
	words, err := spell(p)
	if err != nil {
		c.Gap("%v", err)
	}
	return words
}

// launch is a launch of a program.
func (c *C) launch(p ...Act) runtime.Launch {
	//sbx:allow rawshell the suite's own programs, run in the sandbox; how a script is staged has checks of its own
	return runtime.Launch{Argv: c.argv(p...), Image: runtime.Image{Ref: c.subject.Image}}
}

// supports says whether the backend and this host have a feature.
func (c *C) supports(feature string) bool {
	chk := Check{Needs: []string{feature}}
	return chk.Gap(c.subject.Backend.Describe()) == "" && (c.identity == nil || chk.absent(c.identity) == "")
}

// real ends the check as a gap where the backend's kernel is a model.
func (c *C) real() {
	if c.subject.Modelled != "" {
		c.Gap("%s", c.subject.Modelled)
	}
}

// linesOf are the lines of a text, without the last break.
func linesOf(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }
