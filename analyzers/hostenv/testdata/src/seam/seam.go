// Package seam wires backends.
//
//sbx:seam a test
package seam

import (
	"os"
	"os/exec"
	"strings"
	"syscall"

	"runner"
)

func environ(argv []string) {
	cmd := exec.Command("bwrap", argv...)
	cmd.Env = os.Environ()
	cmd.Run() // want `hands the host's environment to the command: os.Environ`

	added := exec.Command(argv[0], argv[1:]...)
	added.Env = append(os.Environ(), "A=b")
	added.Start() // want `os.Environ`

	own := exec.Command(argv[0])
	own.Env = append(own.Environ(), "A=b")
	own.Run() // want `os.Environ`

	var kept []string
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "AWS_") {
			kept = append(kept, kv)
		}
	}
	filtered := exec.Command(argv[0])
	filtered.Env = kept
	filtered.Run() // want `os.Environ`

	copied := exec.Command(argv[0])
	copied.Env = runner.Everything()
	copied.Run() // want `os.Environ`

	syscall.Exec("/bin/true", argv, os.Environ())                       // want `os.Environ`
	os.StartProcess("/bin/true", argv, &os.ProcAttr{Env: os.Environ()}) // want `os.Environ`
}

func nilEnv(argv []string) error {
	if err := exec.Command("bwrap", argv...).Run(); err != nil { // want `its Env is nil`
		return err
	}
	c := &exec.Cmd{Path: argv[0], Args: argv}
	c.Start()                                      // want `its Env is nil`
	os.StartProcess(argv[0], argv, &os.ProcAttr{}) // want `its Env is nil`
	runner.Run(argv[0])                            // want `its Env is nil.*runner.Run`
	bare := exec.Command(argv[0])
	defer bare.Wait()
	return runner.Start(bare) // want `its Env is nil`
}

func somePaths(argv []string, clean bool) {
	cmd := exec.Command(argv[0])
	if clean {
		cmd.Env = []string{"PATH=/bin"}
	}
	cmd.Run() // want `set only on some paths`

	var env []string
	if clean {
		env = []string{"PATH=/bin"}
	}
	late := exec.Command(argv[0])
	late.Env = env
	late.Run() // want `set only on some paths|its Env is nil`
}

func allPaths(argv []string, clean bool) {
	cmd := exec.Command(argv[0])
	if clean {
		cmd.Env = []string{"PATH=/bin"}
	} else {
		cmd.Env = []string{}
	}
	cmd.Run()
	helped := exec.Command(argv[0])
	minimal(helped)
	helped.Run()
	made := command(argv)
	made.Run()
}

func minimal(cmd *exec.Cmd) { cmd.Env = []string{"PATH=/bin"} }

func command(argv []string) *exec.Cmd {
	cmd := exec.Command(argv[0])
	cmd.Env = []string{}
	return cmd
}

func lookalikes(argv []string) {
	exec.Command("docker", "ps").Run()
	engine := exec.Command("podman", "ps")
	engine.Env = os.Environ()
	engine.Run()
	exec.Command("git", "status").Run()

	plain := exec.Command(argv[0])
	plain.Env = []string{"LANG=" + os.Getenv("LANG"), "PATH=" + os.Getenv("PATH")}
	plain.Run()

	all := make(map[string]string)
	for _, kv := range os.Environ() {
		k, v, _ := strings.Cut(kv, "=")
		all[k] = v
	}
	byName := exec.Command(argv[0])
	byName.Env = []string{"LANG=" + all["LANG"]}
	byName.Run()

	picked := []string{}
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "LC_") {
			picked = append(picked, kv)
		}
	}
	some := exec.Command(argv[0])
	some.Env = picked
	some.Run()
}

func credentials(argv []string) {
	cmd := exec.Command(argv[0])
	cmd.Env = []string{"GITHUB_TOKEN=" + os.Getenv("GITHUB_TOKEN")}
	cmd.Run() // want `puts the credential GITHUB_TOKEN`
}

//sbx:allow hostenv the whole declaration
func allowed(argv []string) {
	exec.Command(argv[0]).Run()
}

//sbx:inside
func insideTheSandbox(argv []string) {
	exec.Command(argv[0]).Run()
}
