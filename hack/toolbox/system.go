//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// runEnv prints the environment, or runs a command in a changed one:
// env [-i] [-u NAME]... [NAME=VALUE]... [COMMAND ARG...].
func runEnv(c *call) error {
	flags := newFlags(c)
	flags.SetInterspersed(false)
	empty := flags.BoolP("ignore-environment", "i", false, "start empty")
	unset := flags.StringArrayP("unset", "u", nil, "without this name")
	words, err := parse(c, flags, 0)
	if err != nil {
		return err
	}
	environment := os.Environ()
	if *empty {
		environment = nil
	}
	without := func(name string) {
		environment = slices.DeleteFunc(environment, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
	}
	for _, name := range *unset {
		without(name)
	}
	for len(words) > 0 {
		name, _, assignment := strings.Cut(words[0], "=")
		if !assignment {
			break
		}
		without(name)
		environment, words = append(environment, words[0]), words[1:]
	}
	if len(words) == 0 {
		for _, entry := range environment {
			if _, err := fmt.Fprintln(c.out, entry); err != nil {
				return err
			}
		}
		return nil
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		fmt.Fprintf(c.err, "env: %v\n", err)
		return exitStatus(127)
	}
	err = syscall.Exec(path, words, environment)
	fmt.Fprintf(c.err, "env: %s: %v\n", path, err)
	return exitStatus(126)
}

// runSleep sleeps for the sum of its arguments: seconds with a fraction, or a
// duration such as 5ms or 2m.
func runSleep(c *call) error {
	if len(c.args) == 0 {
		return usageError("usage: sleep DURATION...")
	}
	var total time.Duration
	for _, word := range c.args {
		d, err := parseDuration(word)
		if err != nil {
			return usageError(err.Error())
		}
		total += d
	}
	time.Sleep(total)
	return nil
}

func parseDuration(word string) (time.Duration, error) {
	if word == "infinity" {
		return 1<<63 - 1, nil
	}
	if seconds, err := strconv.ParseFloat(word, 64); err == nil && seconds >= 0 {
		return time.Duration(seconds * float64(time.Second)), nil
	}
	d, err := time.ParseDuration(word)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration", word)
	}
	return d, nil
}

// runID prints the effective user and groups; -u, -g, -G a number each, -un a name.
func runID(c *call) error {
	flags := newFlags(c)
	onlyUser := flags.BoolP("user", "u", false, "the user")
	onlyGroup := flags.BoolP("group", "g", false, "the group")
	onlyGroups := flags.BoolP("groups", "G", false, "all groups")
	byName := flags.BoolP("name", "n", false, "the name")
	if _, err := parse(c, flags, 0); err != nil {
		return err
	}
	groups, err := os.Getgroups()
	if err != nil {
		return err
	}
	// The kernel need not list the effective group among the others.
	if !slices.Contains(groups, os.Getegid()) {
		groups = append([]int{os.Getegid()}, groups...)
	}
	// The Go runtime's own reader of /etc/passwd and /etc/group: the binary is static.
	userName := func(id int) string {
		if u, err := user.LookupId(strconv.Itoa(id)); err == nil {
			return u.Username
		}
		return strconv.Itoa(id)
	}
	groupName := func(id int) string {
		if g, err := user.LookupGroupId(strconv.Itoa(id)); err == nil {
			return g.Name
		}
		return strconv.Itoa(id)
	}
	show := func(id int, name func(int) string) string {
		if *byName {
			return name(id)
		}
		return strconv.Itoa(id)
	}
	list := make([]string, len(groups))
	var line string
	switch {
	case *onlyUser:
		line = show(os.Geteuid(), userName)
	case *onlyGroup:
		line = show(os.Getegid(), groupName)
	case *onlyGroups:
		for i, g := range groups {
			list[i] = show(g, groupName)
		}
		line = strings.Join(list, " ")
	default:
		for i, g := range groups {
			list[i] = fmt.Sprintf("%d(%s)", g, groupName(g))
		}
		line = fmt.Sprintf("uid=%d(%s) gid=%d(%s) groups=%s", os.Geteuid(), userName(os.Geteuid()),
			os.Getegid(), groupName(os.Getegid()), strings.Join(list, ","))
	}
	_, err = fmt.Fprintln(c.out, line)
	return err
}

// runHostname prints the host name.
func runHostname(c *call) error {
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.out, name)
	return err
}

// runUname prints the kernel's name, or what -s -n -r -v -m choose, or all with -a.
func runUname(c *call) error {
	flags := newFlags(c)
	all := flags.BoolP("all", "a", false, "everything")
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return err
	}
	parts := []struct {
		text string
		want *bool
	}{
		{unix.ByteSliceToString(u.Sysname[:]), flags.BoolP("kernel-name", "s", false, "the kernel's name")},
		{unix.ByteSliceToString(u.Nodename[:]), flags.BoolP("nodename", "n", false, "the host's name")},
		{unix.ByteSliceToString(u.Release[:]), flags.BoolP("kernel-release", "r", false, "the kernel's release")},
		{unix.ByteSliceToString(u.Version[:]), flags.BoolP("kernel-version", "v", false, "the kernel's version")},
		{unix.ByteSliceToString(u.Machine[:]), flags.BoolP("machine", "m", false, "the machine")},
	}
	if _, err := parse(c, flags, 0); err != nil {
		return err
	}
	var words []string
	for _, part := range parts {
		if *all || *part.want {
			words = append(words, part.text)
		}
	}
	if len(words) == 0 {
		words = []string{parts[0].text}
	}
	_, err := fmt.Fprintln(c.out, strings.Join(words, " "))
	return err
}
