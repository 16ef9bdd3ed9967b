package sbxtest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/sbxkit/sbxkit/runtime"
)

func stdinChecks() []Check {
	cat := func(c *C, in runtime.Stdin) string {
		l := c.launch(act(DoCat), say("-end"))
		l.Stdin = in
		return c.plain().ok(l)
	}
	return []Check{
		check("without stdin the command reads the end at once", ruleStdin, func(c *C) {
			if got := cat(c, runtime.Stdin{}); got != "-end\n" {
				c.Errorf("it read %q", got)
			}
		}, "stdin.none"),
		check("a reader's bytes reach the command, and its end does", ruleHalfClose, func(c *C) {
			if got := cat(c, runtime.Stdin{Mode: runtime.StdinPipe, Reader: strings.NewReader("hello")}); got != "hello-end\n" {
				c.Errorf("it read %q", got)
			}
		}, "stdin.pipe"),
		check("an empty reader is the end at once", ruleHalfClose, func(c *C) {
			if got := cat(c, runtime.Stdin{Mode: runtime.StdinPipe, Reader: strings.NewReader("")}); got != "-end\n" {
				c.Errorf("it read %q", got)
			}
		}, "stdin.pipe"),
		check("bytes pass through stdin and stdout exactly", ruleDuplex, func(c *C) {
			in := binary(200000)
			if got := cat(c, runtime.Stdin{Mode: runtime.StdinPipe, Reader: bytes.NewReader(in)}); got != string(in)+"-end\n" {
				c.Errorf("%d bytes went in, %d came out, and they differ", len(in), len(got)-5)
			}
		}, "stdin.pipe"),
		check("after the half-close the output goes on", ruleHalfClose, func(c *C) {
			st := c.plain()
			l := c.launch(act(DoCat), say("after"))
			l.Stdin.Mode, l.Stdout = runtime.StdinPipe, runtime.Pipe
			r := st.start(l)
			c.write(r, "x\n")
			c.must(r.CloseWrite(), "half-closing")
			got, err := io.ReadAll(r.Stdout())
			if err != nil || string(got) != "x\nafter\n" {
				c.Errorf("it wrote %q, %v", got, err)
			}
			if res, err := st.wait(r); err != nil || !res.Success() {
				c.Errorf("came to %s, %v", res, err)
			}
		}, "stdin.pipe"),
		check("a half-close without a byte is the end", ruleHalfClose, func(c *C) {
			st := c.plain()
			out := &output{}
			l := c.launch(act(DoCat), say("end"))
			l.Stdin.Mode, l.Stdout = runtime.StdinPipe, out
			r := st.start(l)
			c.must(r.CloseWrite(), "half-closing")
			if res, err := st.wait(r); err != nil || !res.Success() || out.String() != "end\n" {
				c.Errorf("came to %s, %v, output %q", res, err, out)
			}
		}, "stdin.pipe"),
		check("a half-close can be repeated", ruleTenTimes, func(c *C) {
			st := c.plain()
			l := c.launch(act(DoCat))
			l.Stdin.Mode = runtime.StdinPipe
			r := st.start(l)
			for range 10 {
				_ = r.CloseWrite() // that it was closed before may be said
			}
			if res, err := st.wait(r); err != nil || !res.Success() {
				c.Errorf("came to %s, %v", res, err)
			}
		}, "stdin.pipe"),
		check("a duplex session answers line by line", ruleDuplex, func(c *C) {
			st := c.plain()
			l := c.launch(act(DoReply))
			l.Stdin.Mode, l.Stdout = runtime.StdinPipe, runtime.Pipe
			r := st.start(l)
			answers := bufio.NewReader(r.Stdout())
			for i := range 40 {
				c.write(r, fmt.Sprintf("question %d\n", i))
				if got, err := answers.ReadString('\n'); err != nil || got != fmt.Sprintf("re:question %d\n", i) {
					c.Fatalf("answer %d is %q, %v", i, got, err)
				}
			}
			c.must(r.CloseWrite(), "half-closing")
			if res, err := st.wait(r); err != nil || !res.Success() {
				c.Errorf("came to %s, %v", res, err)
			}
		}, "stdin.pipe"),
		check("a megabyte goes in while it comes out", ruleDuplex, func(c *C) {
			st := c.plain()
			l := c.launch(act(DoCat))
			l.Stdin.Mode, l.Stdout = runtime.StdinPipe, runtime.Pipe
			r := st.start(l)
			in := binary(1 << 20)
			var running sync.WaitGroup
			running.Go(func() {
				if _, err := r.Stdin().Write(in); err != nil {
					c.Errorf("writing: %v", err)
				}
				if err := r.CloseWrite(); err != nil {
					c.Errorf("half-closing: %v", err)
				}
			})
			got, err := io.ReadAll(r.Stdout())
			running.Wait()
			if err != nil || !bytes.Equal(got, in) {
				c.Errorf("%d bytes came out, %v", len(got), err)
			}
		}, "stdin.pipe"),
		check("a file is the command's own stdin", ruleStdin, func(c *C) {
			f, err := os.Open(c.file(c.dir(), "in", "from a file\n"))
			c.must(err, "opening")
			defer f.Close()
			if got := cat(c, runtime.Stdin{Mode: runtime.StdinFile, File: f}); got != "from a file\n-end\n" {
				c.Errorf("it read %q", got)
			}
		}, "stdin.file"),
		check("a command that reads nothing does not hold up its feeder", ruleHalfClose, func(c *C) {
			l := c.launch(say("done"))
			l.Stdin = runtime.Stdin{Mode: runtime.StdinPipe, Reader: bytes.NewReader(binary(4 << 20))}
			if got := c.plain().ok(l); got != "done\n" {
				c.Errorf("it wrote %q", got)
			}
		}, "stdin.pipe"),
		check("writing to a command that has ended is an error, and no signal", ruleDuplex, func(c *C) {
			st := c.plain()
			l := c.launch(say("x"))
			l.Stdin.Mode = runtime.StdinPipe
			r := st.start(l)
			in := r.Stdin()
			if _, err := st.wait(r); err != nil {
				c.Errorf("the run failed: %v", err)
			}
			if n, err := in.Write(binary(1 << 20)); err == nil {
				c.Errorf("%d bytes were taken by a command that has ended", n)
			}
		}, "stdin.pipe"),
		check("a run without a stdin pipe has no stdin", ruleStdin, func(c *C) {
			st := c.plain()
			r := st.start(c.launch(say("x")))
			if r.Stdin() != nil {
				c.Errorf("Stdin gives %v", r.Stdin())
			}
			if err := r.CloseWrite(); err != nil {
				c.Errorf("CloseWrite gives %v", err)
			}
		}),
	}
}

// write writes to a run's stdin.
func (c *C) write(r *runtime.Run, text string) {
	in := r.Stdin()
	if in == nil {
		c.Fatalf("the run has no stdin")
	}
	if _, err := io.WriteString(in, text); err != nil {
		c.Fatalf("writing to stdin: %v", err)
	}
}

// binary makes n bytes of every value, in no period of a power of two.
func binary(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i % 251 * 7)
	}
	return b
}
