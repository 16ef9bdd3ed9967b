// Package rawshell defines an analyzer that reports commands put together as text for a shell.
//
// # Analyzer rawshell
//
// rawshell: report program text handed to a shell or another interpreter as an argument
//
// A command string mixes what is to run with the data it runs on. A file name with a quote in it becomes code, the argument list ends up in
// process listings and logs, and a plan cannot say what will run. The seam has a field for scripts: the text travels as a file, and
// its parameters as arguments that no shell reads.
//
// Reported is a command that gives program text to a shell (sh, bash, dash, zsh, ksh, fish, busybox sh, cmd, powershell and their kin), to another interpreter (python -c, perl -e, ruby -e, node -e,
// osascript -e), or to a program that runs it in a shell (tmux, su -c, watch), also behind prefixes such as env, sudo, timeout, xargs or ssh, however the argument
// list is put together; an embedded shell interpreter; and such a list in the Argv of a launch. Text that is constant counts too.
//
// Bad:
//
//	exec.Command("sh", "-c", "tar xf "+name)
//	sbx.Launch{Argv: []string{"bash", "-c", script}}
//
// Good:
//
//	exec.Command("tar", "xf", name)
//	sbx.Launch{Script: &sbx.Script{Interpreter: []string{"bash"}, Text: []byte(script)}}
//
// Not reported are a shell that runs a script file, -c and -e of programs that take no code there, and an embedded shell in the module that makes it. For a list written out in a
// launch the fix is offered.
//
// # How to allow it
//
//	exec.Command("sh", "-c", hook) //sbx:allow rawshell <reason>
//
// Text that is constant through and through, outside a launch, can be allowed by "rawshell: {constants: true}" in .sbxvet.yaml.
//
// # What it cannot see
//
// A shell whose name is read from a file, a flag or the network (SHELL and COMSPEC in the environment are known); text that reaches a shell
// on its standard input; a program that runs a shell by itself, such as make; an argument list that went through a channel, reflection or cgo;
// and what package backendexec cannot see for its bounds.
package rawshell
