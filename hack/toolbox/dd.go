//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// runDd copies blocks: if= of= bs= count= skip= seek= conv=notrunc.
func runDd(c *call) (err error) {
	values := map[string]string{"bs": "512", "count": "-1", "skip": "0", "seek": "0"}
	for _, word := range c.args {
		name, value, ok := strings.Cut(word, "=")
		if !ok || !slices.Contains([]string{"if", "of", "bs", "count", "skip", "seek", "conv", "status"}, name) {
			return usageError(fmt.Sprintf("%q is not one of if= of= bs= count= skip= seek= conv= status=", word))
		}
		values[name] = value
	}
	numbers := make(map[string]int64)
	for _, name := range []string{"bs", "count", "skip", "seek"} {
		if numbers[name], err = parseSize(values[name]); err != nil {
			return usageError(fmt.Sprintf("%s: %v", name, err))
		}
	}
	in, out := c.in, c.out
	if name, ok := values["if"]; ok {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	if _, err := io.CopyN(io.Discard, in, numbers["skip"]*numbers["bs"]); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if name, ok := values["of"]; ok {
		mode := os.O_WRONLY | os.O_CREATE
		if values["conv"] != "notrunc" {
			mode |= os.O_TRUNC
		}
		f, err := os.OpenFile(name, mode, 0o666)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		if _, err := f.Seek(numbers["seek"]*numbers["bs"], io.SeekStart); err != nil {
			return err
		}
		out = f
	}
	block := make([]byte, numbers["bs"])
	var copied int64
	for n := int64(0); numbers["count"] < 0 || n < numbers["count"]; n++ {
		got, readErr := io.ReadFull(in, block)
		wrote, writeErr := out.Write(block[:got])
		copied += int64(wrote)
		if writeErr != nil {
			return writeErr
		}
		if errors.Is(readErr, io.EOF) || errors.Is(readErr, io.ErrUnexpectedEOF) {
			break
		}
		if readErr != nil {
			return readErr
		}
	}
	if values["status"] != "none" {
		fmt.Fprintf(c.err, "%d bytes copied\n", copied)
	}
	return nil
}

// parseSize reads bytes with an optional k, M or G (powers of 1024).
func parseSize(word string) (int64, error) {
	shift := 0
	switch {
	case strings.HasSuffix(word, "k"), strings.HasSuffix(word, "K"):
		shift = 10
	case strings.HasSuffix(word, "M"):
		shift = 20
	case strings.HasSuffix(word, "G"):
		shift = 30
	}
	if shift > 0 {
		word = word[:len(word)-1]
	}
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a size", word)
	}
	return n << shift, nil
}
