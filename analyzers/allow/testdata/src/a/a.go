// Package a suppresses.
package a

import "os/exec"

func f(x string) {
	exec.Command("docker").Run() //sbx:allow backendexec a reason
	exec.Command("docker").Run() //sbx:allow backendexec // want `//sbx:allow backendexec needs a reason`
	exec.Command("docker").Run() //sbx:allow rawshell it is another rule's // want `//sbx:allow rawshell silences nothing; remove it`
	exec.Command("git").Run()    //sbx:allow backendexec there is nothing // want `//sbx:allow backendexec silences nothing`
	exec.Command("git").Run()    //sbx:allow backendexe misspelt // want `//sbx:allow of unknown rule "backendexe"; the rules are backendexec, .*, unsandboxed`
	exec.Command("git").Run()    //sbx:allow // want `//sbx:allow needs a rule and a reason`
	exec.Command("sh", "-c", x)  //sbx:allow allow no rule may be so called // want `unknown rule "allow"`

	//sbx:allow backendexec one for two findings of a statement
	_ = []*exec.Cmd{
		exec.Command("docker"),
		exec.Command("podman"),
	}
}

//sbx:allow backendexec a declaration
func g() { exec.Command("docker").Run() }

//sbx:allow backendexec a declaration without a finding // want `silences nothing`
func h() {}

//sbx:alow backendexec misspelt // want `unknown directive //sbx:alow; the directives are allow, backend, inside`
func i() {}

// sbx:allow backendexec this is no directive, and nothing says it is wrong
func j() {}
