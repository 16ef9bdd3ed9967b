//go:build unix

package bench

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// A usage is what a command and all that it started took.
type usage struct {
	wall    time.Duration
	cpu     time.Duration
	largest int64 // the resident set of the largest process, in bytes
	sum     int64 // the resident sets of all processes at once, in bytes, pages that they share counted in each
}

var quantities = []struct {
	name, unit string
	of         func(usage) float64
}{
	{"wall", "wall-s", func(u usage) float64 { return u.wall.Seconds() }},
	{"cpu", "cpu-s", func(u usage) float64 { return u.cpu.Seconds() }},
	{"largest", "largest-MiB", func(u usage) float64 { return float64(u.largest) / (1 << 20) }},
	{"sum", "sum-MiB", func(u usage) float64 { return float64(u.sum) / (1 << 20) }},
}

// sampleEvery is how often the sum is taken. Reading /proc that often costs about a hundredth of one processor, the same for all sides.
const sampleEvery = 50 * time.Millisecond

// measure runs the command in a process group of its own. The error is that of cmd.Run.
func measure(cmd *exec.Cmd) (usage, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	done := make(chan struct{})
	sampled := make(chan int64)
	go func() {
		var most int64
		for tick := time.Tick(sampleEvery); ; {
			select {
			case <-tick:
				most = max(most, groupMemory(cmd.Process.Pid))
			case <-done:
				sampled <- most
				return
			}
		}
	}()
	err := cmd.Wait()
	u := usage{wall: time.Since(start)}
	close(done)
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	// Of the command and of every process that was waited for below it.
	u.largest = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	u.sum = max(<-sampled, u.largest)
	return u, err
}

// groupMemory returns the sum of the resident sets of a process group, in bytes.
func groupMemory(pgid int) int64 {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		panic(fmt.Sprintf("a constant pattern: %v", err))
	}
	var sum int64
	for _, name := range stats {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// After the program's name in parentheses: state, parent, group, …; the resident set in pages is the 24th field of all.
		fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		if len(fields) < 22 || string(fields[2]) != strconv.Itoa(pgid) {
			continue
		}
		if pages, err := strconv.ParseInt(string(fields[21]), 10, 64); err == nil {
			sum += pages * int64(os.Getpagesize())
		}
	}
	return sum
}
