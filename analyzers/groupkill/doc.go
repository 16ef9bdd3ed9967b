// Package groupkill defines an analyzer that keeps signals from processes the caller did not start.
//
// # Analyzer groupkill
//
// groupkill: report a signal to a process or process group that the caller did not create
//
// A process id is a number that the kernel gives to the next process once its holder has been reaped, and the group a process is found
// in need not be its own: the group of a child that was started without Setpgid is the caller's, so a clean-up that asks Getpgid
// and signals the answer ends the program itself, its shell and what runs beside it.
//
// Reported are signals to pid 0 and -1; to a group that Getpgid found for an arbitrary process, for the caller, or for a child without a
// group of its own; to -pid of a child started without Setpgid or Setsid; to the caller's parent; to a process id that was read from a
// file or other text, unless the function compares the start time or uses a pidfd; and a signal by number after the Wait for that
// child, or beside it: in a timer's callback or another goroutine, which may run when the child has been reaped.
//
// Bad:
//
//	pgid, _ := syscall.Getpgid(pid)
//	syscall.Kill(-pgid, syscall.SIGKILL)
//
//	timer := time.AfterFunc(limit, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
//	err := cmd.Wait()                // the callback may run after this
//
// Good:
//
//	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
//	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
//
// A sandbox ends what it started by Run.Stop and Run.Kill, which need no process id.
//
// Not reported are a group that the program created and has not reaped, the foreground group of a terminal, stopping oneself
// (SIGSTOP, SIGTSTP), signal 0, and os.Process methods of an own child, which know when it has been reaped.
//
// # How to allow it
//
//	syscall.Kill(0, syscall.SIGTERM) //sbx:allow groupkill <reason>
//
// # What it cannot see
//
// A process id in a collection, a 0 or -1 in a field that also holds other ids, or one that went through a channel, a type assertion or another process; one of which nothing is known
// is taken for the caller's own. The order with a Wait in another function that does not share the call, such as two methods of one
// type. Whether a start time that is read is compared. The moment between the reaping and the end of Wait in which exec.Cmd may still
// call Cancel. The programs kill and pkill, and the raw system call by number.
package groupkill
