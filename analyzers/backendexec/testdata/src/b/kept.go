package b

import (
	"os/exec"

	"keeps"
)

func asserted(v any) {
	exec.Command(v.(keeps.Name).String()).Run()
}

func kept() {
	asserted(keeps.Name("docker")) // want `program "docker"`
	keeps.Starters["x"]("docker")  // want `program "docker"`
}
