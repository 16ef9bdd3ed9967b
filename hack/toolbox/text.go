//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// runCat copies its inputs to standard output, each read as it arrives.
func runCat(c *call) error {
	fs := newFlags(c)
	fs.BoolP("unbuffered", "u", true, "never buffer (always so)")
	names, err := parse(c, fs, 0)
	if err != nil {
		return err
	}
	return eachInput(c, names, func(_ string, r io.Reader) error {
		_, err := io.Copy(c.out, r)
		return err
	})
}

// lineCount reads the -n N and -c N of head and tail, and the old -N.
func lineCount(c *call) (fs *pflag.FlagSet, lines, bytes *int64) {
	if len(c.args) > 0 && len(c.args[0]) > 1 && c.args[0][0] == '-' {
		if _, err := strconv.ParseUint(c.args[0][1:], 10, 32); err == nil {
			c.args = append([]string{"-n", c.args[0][1:]}, c.args[1:]...)
		}
	}
	fs = newFlags(c)
	lines = fs.Int64P("lines", "n", 10, "how many lines")
	bytes = fs.Int64P("bytes", "c", -1, "how many bytes")
	return fs, lines, bytes
}

// runHead prints the first lines or bytes of each input.
func runHead(c *call) error {
	fs, lines, count := lineCount(c)
	names, err := parse(c, fs, 0)
	if err != nil {
		return err
	}
	return eachInput(c, names, func(_ string, r io.Reader) error {
		if *count >= 0 {
			_, err := io.CopyN(c.out, r, *count)
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		in := bufio.NewReader(r)
		for range *lines {
			line, err := in.ReadBytes('\n')
			if _, werr := c.out.Write(line); werr != nil {
				return werr
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// runTail prints the last lines or bytes of each input; it does not follow.
func runTail(c *call) error {
	fs, lines, count := lineCount(c)
	names, err := parse(c, fs, 0)
	if err != nil {
		return err
	}
	return eachInput(c, names, func(_ string, r io.Reader) error {
		all, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		start := len(all)
		if *count >= 0 {
			start = max(0, len(all)-int(*count))
		} else {
			for n := *lines; n > 0 && start > 0; n-- {
				start = bytes.LastIndexByte(all[:start-1], '\n') + 1
			}
		}
		_, err = c.out.Write(all[start:])
		return err
	})
}

// runWc counts lines, words and bytes: all three unless flags choose.
func runWc(c *call) error {
	fs := newFlags(c)
	wantLines := fs.BoolP("lines", "l", false, "count lines")
	wantWords := fs.BoolP("words", "w", false, "count words")
	wantBytes := fs.BoolP("bytes", "c", false, "count bytes")
	names, err := parse(c, fs, 0)
	if err != nil {
		return err
	}
	if !*wantLines && !*wantWords && !*wantBytes {
		*wantLines, *wantWords, *wantBytes = true, true, true
	}
	var total [3]int
	show := func(counts [3]int, name string) {
		var words []string
		for i, want := range []bool{*wantLines, *wantWords, *wantBytes} {
			if want {
				words = append(words, strconv.Itoa(counts[i]))
			}
		}
		if name != "-" {
			words = append(words, name)
		}
		fmt.Fprintln(c.out, strings.Join(words, " "))
	}
	err = eachInput(c, names, func(name string, r io.Reader) error {
		all, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		counts := [3]int{bytes.Count(all, []byte{'\n'}), len(bytes.Fields(all)), len(all)}
		for i := range total {
			total[i] += counts[i]
		}
		show(counts, name)
		return nil
	})
	if len(names) > 1 {
		show(total, "total")
	}
	return err
}

// runSeq prints integers: LAST, FIRST LAST, or FIRST STEP LAST.
func runSeq(c *call) error {
	if len(c.args) < 1 || len(c.args) > 3 {
		return usageError("usage: seq [FIRST [STEP]] LAST")
	}
	numbers := make([]int64, len(c.args))
	for i, word := range c.args {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return usageError(fmt.Sprintf("%q is not an integer", word))
		}
		numbers[i] = n
	}
	first, step, last := int64(1), int64(1), numbers[len(numbers)-1]
	if len(numbers) > 1 {
		first = numbers[0]
	}
	if len(numbers) > 2 {
		step = numbers[1]
	}
	if step == 0 {
		return usageError("the step is 0")
	}
	out := bufio.NewWriter(c.out)
	for n := first; (step > 0 && n <= last) || (step < 0 && n >= last); n += step {
		if _, err := fmt.Fprintln(out, n); err != nil {
			return err
		}
	}
	return out.Flush()
}

// runYes repeats its words, or y, until its output is closed.
func runYes(c *call) error {
	line := "y"
	if len(c.args) > 0 {
		line = strings.Join(c.args, " ")
	}
	block := bytes.Repeat([]byte(line+"\n"), max(1, 8192/(len(line)+1)))
	for {
		if _, err := c.out.Write(block); err != nil {
			return err
		}
	}
}

// runTee copies standard input to standard output and to each file.
func runTee(c *call) error {
	fs := newFlags(c)
	appending := fs.BoolP("append", "a", false, "append to the files")
	names, err := parse(c, fs, 0)
	if err != nil {
		return err
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if *appending {
		mode = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	outs := []io.Writer{c.out}
	var files []*os.File
	for _, name := range names {
		f, err := os.OpenFile(name, mode, 0o666)
		if err != nil {
			return err
		}
		defer f.Close()
		outs, files = append(outs, f), append(files, f)
	}
	if _, err := io.Copy(io.MultiWriter(outs...), c.in); err != nil {
		return err
	}
	for _, f := range files {
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}
