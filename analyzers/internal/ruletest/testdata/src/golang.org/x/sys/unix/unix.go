// Package unix is a stub of what starts programs, signals them and reads descriptors there.
package unix

import "syscall"

func Exec(argv0 string, argv []string, envv []string) error { return nil }
func Read(fd int, p []byte) (int, error)                    { return 0, nil }
func Write(fd int, p []byte) (int, error)                   { return 0, nil }
func Close(fd int) error                                    { return nil }
func Kill(pid int, sig syscall.Signal) error                { return nil }

const TIOCGPGRP = 0x540f

func IoctlGetInt(fd int, req uint) (int, error)                                   { return 0, nil }
func PidfdOpen(pid, flags int) (int, error)                                       { return 0, nil }
func PidfdSendSignal(fd int, sig syscall.Signal, info *struct{}, flags int) error { return nil }
