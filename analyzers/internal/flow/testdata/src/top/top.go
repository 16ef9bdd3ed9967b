// Package top calls dep.
package top

import (
	"os/exec"

	"dep"
)

func direct(x string, more []string) {
	dep.Run("docker", "ps", x)                                   // want `start dep.Run → exec.Command: l\(s"docker",s"ps",P,\)`
	dep.Run("docker", more...)                                   // want `start dep.Run → exec.Command: l\(s"docker",p\(P1,\),\)`
	dep.Option(dep.Options{Bin: "podman", Args: []string{"ps"}}) // want `start dep.Option → Run → exec.Command: .*l\(\?\|s"podman",s"-v",s"ps",\)`
	dep.Make([]string{"make"})                                   // want `launch dep.Make → dep.Launch.Argv: l\(s"env",s"make",\)`
}

func values(ok bool) {
	name := "git"
	if ok {
		name = "docker"
	}
	exec.Command(name).Run() // want `start exec.Command: l\(s"docker"\|s"git",\)`
	list := []string{"a"}
	for range 3 {
		list = append(list, "b")
	}
	exec.Command("x", list...).Run() // want `start exec.Command: .*s"a"`
}

func closures(x string) {
	dep.Each([]string{"a", x}, func(n string) { // want `start dep.Each → function literal in closures → exec.Command: l\(s"a"\|P,\)`
		exec.Command(n).Run() // want `start exec.Command: l\(P,\)`
	})
	f := dep.Run
	f("bwrap") // want `start dep.Run → exec.Command: l\(s"bwrap",\)`
}

func effects() {
	opens() // want `unsandboxed opens → dep.Open → local.New`
	defer func() {
		opens() // want `unsandboxed opens → dep.Open → local.New` `unsandboxed opens → dep.Open → local.New`
	}()
}

func opens() { dep.Open() } // want `unsandboxed dep.Open → local.New`
