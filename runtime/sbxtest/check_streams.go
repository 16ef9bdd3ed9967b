package sbxtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
)

func streamChecks() []Check {
	return []Check{
		check("stdout arrives as it was written", ruleDrained, func(c *C) {
			if got := c.plain().ok(c.launch(say("one"), say("two words"))); got != "one\ntwo words\n" {
				c.Errorf("it arrived as %q", got)
			}
		}),
		check("stderr is a stream of its own", ruleSinks, func(c *C) {
			out, errs := &output{}, &output{}
			l := c.launch(say("out"), sayErr("err"))
			l.Stdout, l.Stderr = out, errs
			c.plain().ok(l)
			if out.String() != "out\n" || errs.String() != "err\n" {
				c.Errorf("stdout %q, stderr %q", out, errs)
			}
		}),
		check("one sink given twice keeps the order", ruleSinks, func(c *C) {
			out := &output{}
			var want strings.Builder
			var p Program
			for i := range 20 {
				text := fmt.Sprintf("line %d", i)
				if i%2 == 0 {
					p = append(p, say(text))
				} else {
					p = append(p, sayErr(text))
				}
				want.WriteString(text + "\n")
			}
			l := c.launch(p...)
			l.Stdout, l.Stderr = out, out
			c.plain().ok(l)
			if out.String() != want.String() {
				c.Errorf("it arrived as %q", out)
			}
		}, "streams.shared"),
		check("the last bytes before the end are not lost", ruleDrained, func(c *C) {
			st := c.plain()
			for range 3 {
				if got := st.ok(c.launch(spew(70000), say("last"))); len(got) != 70000+5 || !strings.HasSuffix(got, "last\n") {
					c.Errorf("%d bytes arrived, the last are %q", len(got), got[max(0, len(got)-8):])
				}
			}
		}),
		check("a megabyte arrives whole and is counted", ruleDrained, func(c *C) {
			l := c.launch(spew(1 << 20))
			n := &counter{}
			l.Stdout = n
			res, err := c.plain().run(l)
			c.must(err, "running")
			if n.bytes != 1<<20 || res.Usage.StdoutSize != 1<<20 || res.Evidence.StdoutDropped != 0 {
				c.Errorf("%d arrived, %d counted, %d dropped", n.bytes, res.Usage.StdoutSize, res.Evidence.StdoutDropped)
			}
		}),
		check("every line of many arrives once", ruleDrained, func(c *C) {
			got := linesOf(c.plain().ok(c.launch(Act{Do: DoCount, N: 3000})))
			if len(got) != 3000 || got[0] != "line 0" || got[2999] != "line 2999" {
				c.Errorf("%d lines, from %q to %q", len(got), got[0], got[len(got)-1])
			}
		}),
		check("a line longer than 64 KiB blocks nobody", ruleSinks, func(c *C) {
			if got := c.plain().ok(c.launch(spew(200000), say(""))); len(got) != 200001 {
				c.Errorf("%d bytes arrived", len(got))
			}
		}),
		check("output that nobody wants is counted", ruleCounted, func(c *C) {
			l := c.launch(spew(5000), sayErr("12345"))
			res, err := c.plain().run(l)
			c.must(err, "running")
			if res.Usage.StdoutSize != 5000 || res.Usage.StderrSize != 6 || !res.Success() {
				c.Errorf("counted %d and %d", res.Usage.StdoutSize, res.Usage.StderrSize)
			}
		}),
		check("a pipe gives a reader every byte and then its end", ruleSinks, func(c *C) {
			l := c.launch(spew(300000), say("end"))
			l.Stdout = runtime.Pipe
			st := c.plain()
			r := st.start(l)
			got, err := io.ReadAll(r.Stdout())
			if err != nil || len(got) != 300004 || !bytes.HasSuffix(got, []byte("end\n")) {
				c.Errorf("read %d bytes, %v", len(got), err)
			}
			if res, err := st.wait(r); err != nil || !res.Success() {
				c.Errorf("the run came to %s, %v", res, err)
			}
		}),
		check("a slow reader loses nothing", ruleDrained, func(c *C) {
			l := c.launch(spew(300000), say("end"))
			l.Stdout = runtime.Pipe
			st := c.plain()
			r := st.start(l)
			total, buf := 0, make([]byte, 16<<10)
			for {
				n, err := r.Stdout().Read(buf)
				total += n
				if err != nil {
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
			res, err := st.wait(r)
			if total != 300004 || err != nil || !res.Success() {
				c.Errorf("read %d bytes; %s, %v", total, res, err)
			}
		}),
		check("a tail keeps head and last bytes and counts the rest", ruleCounted, func(c *C) {
			tail := runtime.NewTail(5, 5)
			l := c.launch(say("head"), spew(1000), say("last"))
			l.Stdout = tail
			c.plain().ok(l)
			if string(tail.Head()) != "head\n" || string(tail.Last()) != "last\n" || tail.Dropped() != 1000 {
				c.Errorf("head %q, last %q, dropped %d", tail.Head(), tail.Last(), tail.Dropped())
			}
		}),
		check("more output than the limit ends the run as that", ruleOutcome, func(c *C) {
			l := c.launch(spew(200000), act(DoHang))
			l.Limits.Output = runtime.AtMost(1000)
			n := &counter{}
			l.Stdout = n
			res, _ := c.plain().run(l)
			c.outcome(res, runtime.OutputLimit)
			if n.bytes != 1000 || res.Evidence.StdoutDropped == 0 || res.Evidence.Cause == "" {
				c.Errorf("kept %d, dropped %d, because %q", n.bytes, res.Evidence.StdoutDropped, res.Evidence.Cause)
			}
		}, "limits.output"),
		check("an open file gets the output", ruleFileSink, func(c *C) {
			path := filepath.Join(c.dir(), "out")
			f, err := os.Create(path)
			c.must(err, "making a file")
			defer f.Close()
			l := c.launch(say("to a file"))
			l.Stdout = f
			c.plain().ok(l)
			got, err := os.ReadFile(path)
			if err != nil || string(got) != "to a file\n" {
				c.Errorf("the file has %q, %v", got, err)
			}
		}),
		check("a sink that fails does not fail the run, and is told", ruleCounted, func(c *C) {
			l := c.launch(spew(200000))
			l.Stdout = failing{}
			res, err := c.plain().run(l)
			if err != nil || !res.Success() || len(res.Evidence.Notes) == 0 || res.Evidence.StdoutDropped == 0 {
				c.Errorf("came to %s, %v; notes %q, dropped %d", res, err, res.Evidence.Notes, res.Evidence.StdoutDropped)
			}
		}),
		check("a grandchild that holds the streams cannot hang the run", ruleGrandchild, func(c *C) {
			began := time.Now()
			out := &output{}
			l := c.launch(leaveBehind(10*time.Minute), say("gone"), exit(5))
			l.Stdout = out
			st := c.plain()
			res, err := st.run(l)
			if c.outcome(res, runtime.Exited); res.Code != 5 || err != nil || out.String() != "gone\n" {
				c.Errorf("came to %s, %v, output %q", res, err, out)
			}
			if d := time.Since(began); d > time.Minute {
				c.Errorf("it took %v", d)
			}
		}),
		check("output is seen while the run goes on", ruleSinks, func(c *C) {
			out := &output{}
			st := c.plain()
			r := st.up(func(l *runtime.Launch) { l.Stdout = out }, act(DoHang))
			// What makes it ready is the text; the end of its line may come in a piece of its own.
			if !strings.Contains(out.String(), "up") {
				c.Errorf("ready, and the sink has %q", out)
			}
			st.end(r)
			if out.String() != "up\n" {
				c.Errorf("ended, and the sink has %q", out)
			}
		}, "ready.line"),
		check("a terminal is one merged stream, and the command sees one", rule{"A private pty, one merged raw stream", "LAUNCH, Terminal"}, func(c *C) {
			c.real()
			out := &output{}
			l := c.launch(say("a"), sayErr("b"))
			l.Stdout, l.Terminal = out, &runtime.Terminal{Columns: 80, Rows: 24}
			c.plain().ok(l)
			if got := strings.ReplaceAll(out.String(), "\r", ""); got != "a\nb\n" {
				c.Errorf("the terminal gave %q", out)
			}
		}, "terminal"),
	}
}

// counter counts bytes; it is written to by one goroutine, and read after the run.
type counter struct{ bytes int }

func (n *counter) Write(p []byte) (int, error) {
	n.bytes += len(p)
	return len(p), nil
}

// failing is a sink that takes nothing.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("the sink is full") }
