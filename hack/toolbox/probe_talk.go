//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// socketAddress splits unix:PATH, unix:@NAME (abstract) and HOST:PORT.
func socketAddress(word string) (network, address string) {
	if path, ok := strings.CutPrefix(word, "unix:"); ok {
		return "unix", path
	}
	return "tcp", word
}

// probeConnect connects to HOST:PORT or unix:PATH within 3 seconds and prints
// "connected"; it exits 1 with the reason when it cannot.
func probeConnect(c *call) error {
	if len(c.args) != 1 {
		return usageError("usage: sbx-probe connect HOST:PORT | unix:PATH")
	}
	network, address := socketAddress(c.args[0])
	conn, err := net.DialTimeout(network, address, 3*time.Second)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.out, "connected")
	return errors.Join(err, conn.Close())
}

// probeListen prints "listening ADDRESS" and echoes every connection until it
// is killed; without an operand on a free port of 127.0.0.1.
func probeListen(c *call) error {
	word := "127.0.0.1:0"
	if len(c.args) > 0 {
		word = c.args[0]
	}
	network, address := socketAddress(word)
	listener, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	defer listener.Close()
	if _, err := fmt.Fprintln(c.out, "listening", listener.Addr()); err != nil {
		return err
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			if _, err := io.Copy(conn, conn); err != nil {
				fmt.Fprintf(c.err, "%s: %v\n", c.name, err)
			}
		}()
	}
}

// descriptor opens the descriptor whose number stands in an environment
// variable.
func descriptor(variable string) (*os.File, error) {
	text := os.Getenv(variable)
	fd, err := strconv.Atoi(text)
	if err != nil || fd < 0 {
		return nil, fmt.Errorf("%s is %q: it must hold the number of an open descriptor", variable, text)
	}
	return os.NewFile(uintptr(fd), variable), nil
}

// probeHeartbeat writes a line to the descriptor SBX_HEARTBEAT_FD every
// INTERVAL, COUNT times or for ever, then sleeps for REST, silent but alive:
// sbx-probe heartbeat INTERVAL [COUNT [REST]].
func probeHeartbeat(c *call) error {
	if len(c.args) < 1 || len(c.args) > 3 {
		return usageError("usage: sbx-probe heartbeat INTERVAL [COUNT [REST]]")
	}
	interval, err := parseDuration(c.args[0])
	if err != nil {
		return usageError(err.Error())
	}
	count := int64(-1)
	if len(c.args) > 1 {
		if count, err = number(c, 1); err != nil {
			return err
		}
	}
	var rest time.Duration
	if len(c.args) > 2 {
		if rest, err = parseDuration(c.args[2]); err != nil {
			return usageError(err.Error())
		}
	}
	out, err := descriptor("SBX_HEARTBEAT_FD")
	if err != nil {
		return err
	}
	for n := int64(0); count < 0 || n < count; n++ {
		if _, err := fmt.Fprintln(out, "beat", n); err != nil {
			return err
		}
		time.Sleep(interval)
	}
	time.Sleep(rest)
	return nil
}

// probeNotify writes READY=1, or the line it is given, to the descriptor
// SBX_NOTIFY_FD and sleeps for a duration when one follows.
func probeNotify(c *call) error {
	line := "READY=1"
	if len(c.args) > 0 {
		line = c.args[0]
	}
	out, err := descriptor("SBX_NOTIFY_FD")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, line); err != nil {
		return err
	}
	if len(c.args) > 1 {
		d, err := parseDuration(c.args[1])
		if err != nil {
			return usageError(err.Error())
		}
		time.Sleep(d)
	}
	return out.Close()
}

// probeREPL is a persistent session with framing markers. For every line L it
// prints, each a line,
//
//	>>> N            N counts the lines from 1
//	(the answer)     echo TEXT: TEXT; bytes N: N bytes 0x00 0x01 …; error TEXT:
//	                 TEXT on standard error; count: how many lines so far
//	<<< N STATUS     STATUS is 0, or 1 for error and for an unknown command
//
// and it ends with status N at "exit N", or 0 at the end of its input.
func probeREPL(c *call) error {
	in := bufio.NewScanner(c.in)
	in.Buffer(nil, 16<<20)
	for n := 1; in.Scan(); n++ {
		word, rest, _ := strings.Cut(in.Text(), " ")
		if word == "exit" {
			status, err := strconv.ParseUint(rest, 10, 8)
			if err != nil {
				return usageError(fmt.Sprintf("exit %q: a status from 0 to 255 is wanted", rest))
			}
			return exitStatus(status)
		}
		out := bufio.NewWriter(c.out)
		fmt.Fprintf(out, ">>> %d\n", n)
		status := 0
		switch word {
		case "echo":
			fmt.Fprintln(out, rest)
		case "bytes":
			size, err := strconv.ParseUint(rest, 10, 31)
			if err != nil {
				status = 1
			}
			for i := range size {
				out.WriteByte(byte(i))
			}
			fmt.Fprintln(out)
		case "count":
			fmt.Fprintln(out, n)
		case "error":
			status = 1
			fmt.Fprintln(c.err, rest)
		default:
			status = 1
			fmt.Fprintf(c.err, "%s: %q is not a command\n", c.name, word)
		}
		fmt.Fprintf(out, "<<< %d %d\n", n, status)
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return in.Err()
}

// rpcMessage is a JSON-RPC 2.0 request, notification or response.
type rpcMessage struct {
	Version string           `json:"jsonrpc"`
	ID      *json.RawMessage `json:"id,omitempty"`
	Method  string           `json:"method,omitempty"`
	Params  json.RawMessage  `json:"params,omitempty"`
	Result  json.RawMessage  `json:"result,omitempty"`
	Error   *rpcError        `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// probeJSONRPC is an agent that speaks JSON-RPC 2.0, one message a line. The
// method echo returns its params; notify sends the notification "event" with
// its params and returns null; exit ends the agent with the status in its
// params, without an answer. Other methods are error -32601, lines that are not
// messages error -32700 with id null.
func probeJSONRPC(c *call) error {
	in := bufio.NewScanner(c.in)
	in.Buffer(nil, 16<<20)
	out := json.NewEncoder(c.out)
	out.SetEscapeHTML(false)
	null := json.RawMessage("null")
	for in.Scan() {
		var request rpcMessage
		if err := json.Unmarshal(in.Bytes(), &request); err != nil || request.Version != "2.0" {
			if err := out.Encode(rpcMessage{Version: "2.0", ID: &null, Error: &rpcError{-32700, "not a JSON-RPC 2.0 message"}}); err != nil {
				return err
			}
			continue
		}
		answer := rpcMessage{Version: "2.0", ID: request.ID}
		switch request.Method {
		case "echo":
			answer.Result = request.Params
		case "notify":
			answer.Result = null
			if err := out.Encode(rpcMessage{Version: "2.0", Method: "event", Params: request.Params}); err != nil {
				return err
			}
		case "exit":
			var status uint8
			if err := json.Unmarshal(request.Params, &status); err != nil {
				return usageError("the params of exit are a status from 0 to 255")
			}
			return exitStatus(status)
		default:
			answer.Error = &rpcError{-32601, "no method " + request.Method}
		}
		if answer.Result == nil && answer.Error == nil {
			answer.Result = null
		}
		if request.ID == nil {
			continue
		}
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
	return in.Err()
}
