// Package b uses the constants and wrappers of others.
package b

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"consts"
	"wrap"
)

func constants(i int, ok bool) {
	exec.Command(consts.Docker).Run() // want `program "docker" outside`
	exec.Command(consts.Git).Run()
	exec.Command(consts.Engine).Run()     // want `program "podman"`
	exec.Command(consts.Table["a"]).Run() // want `program "bwrap"`
	exec.Command(consts.Table["b"]).Run()
	exec.Command(consts.List[1]).Run() // want `program "nerdctl"`
	exec.Command(consts.List[0]).Run()
	exec.Command(consts.List[i]).Run()   // want `program "nerdctl"`
	exec.Command(consts.Tool.Name).Run() // want `program "docker"`
	exec.Command(consts.Tool.Flag).Run()
	exec.Command(consts.Name()).Run()                    // want `program "docker"`
	exec.Command(consts.Pick("git", "docker", ok)).Run() // want `program "docker"`
	exec.Command(consts.Pick("git", "make", ok)).Run()
	exec.Command(filepath.Join("/usr", "bin", "docker")).Run() // want `program "docker"`
	exec.Command(filepath.Join("/usr/docker", "git")).Run()
	exec.Command(fmt.Sprintf("/usr/bin/%s", "docker")).Run() // want `program "docker"`
	exec.Command(strings.TrimSpace(" docker")).Run()
	exec.Command("docker.exe").Run() // want `program "docker"`
}

func wrappers(ctx context.Context, argv []string) {
	wrap.Run("docker", "ps") // want `program "docker" outside the seam \(wrap.Run → exec.Command\)`
	wrap.Run("git", "docker")
	wrap.Twice("docker")                           // want `\(wrap.Twice → Run → exec.Command\)`
	wrap.Argv([]string{"docker", "ps"})            // want `program "docker"`
	wrap.Argv(append([]string{"docker"}, argv...)) // want `program "docker"`
	wrap.Argv(append([]string{"git"}, argv...))
	wrap.Argv(argv)
	wrap.Cmd("docker").Run()              // want `program "docker"`
	wrap.Start(&exec.Cmd{Path: "docker"}) // want `program "docker"`
	wrap.Literal("/usr/bin/docker")       // want `program "docker"`
	wrap.Process("/usr/bin/docker")       // want `program "docker"`
	wrap.Raw("/usr/bin/docker")           // want `program "docker"`
	wrap.New("docker").Run(ctx)           // want `program "docker"`
	wrap.New("git").Run(ctx)
	r := &wrap.Runner{Bin: "podman"}
	r.Run(ctx) // want `program "podman"`
	var v wrap.Runner
	v.RunOther("podman") // want `program "podman"`
	v.RunOther("git")
	f := v.RunOther
	f("podman") // want `program "podman"`
	g := wrap.Runner.RunOther
	g(v, "podman")                    // want `program "podman"`
	wrap.NewStarter().Start("docker") // want `program "docker"`
	var s wrap.Starter
	s.Start("docker")      // want `program "docker"`
	wrap.Hook("docker")    // want `program "docker"`
	wrap.Func("docker")    // want `program "docker"`
	wrap.Generic("docker") // want `program "docker"`
	wrap.Generic[name]("git")
	wrap.Each([]string{"git", "docker"}, func(n string) { exec.Command(n).Run() }) // want `program "docker"`
	wrap.Each([]string{"git"}, func(n string) { exec.Command(n).Run() })
	wrap.Each([]string{"docker"}, func(n string) { fmt.Println(n) })
	for n := range wrap.Seq { // want `program "docker"`
		exec.Command(n).Run()
	}
	wrap.With(wrap.Options{Prog: "docker"}) // want `program "docker"`
	wrap.With(wrap.Options{Prog: "git", Args: []string{"docker"}})
	wrap.With(wrap.Options{Prog: "sudo", Args: []string{"-n", "docker"}}) // want `program "docker"`
}

type name string

type alias = wrap.Runner

func viaAlias(ctx context.Context) {
	a := alias{Bin: "docker"}
	a.Run(ctx) // want `program "docker"`
}

type embeds struct{ *wrap.Runner }

func promoted(ctx context.Context) {
	e := embeds{wrap.New("docker")}
	e.Run(ctx) // want `program "docker"`
	var i interface{ Run(context.Context) error } = e
	i.Run(ctx) // want `program "docker"`
}

func looksLike(argv []string) {
	s := "docker"
	fmt.Println(s, strings.Join(append([]string{"docker", "run"}, argv...), " "))
	if _, err := exec.LookPath("docker"); err != nil {
		return
	}
	exec.Command("docker-credential-helper").Run()
	exec.Command("/opt/my-docker").Run()
	exec.Command("/etc/docker/hook").Run()
	exec.Command("git", "-C", "docker").Run()
	exec.Command("make", "docker").Run()
	exec.Command("systemctl", "restart", "docker").Run()
	cmd := exec.Command("docker", "run")
	fmt.Println(cmd.String(), cmd.Args)
	fmt.Printf("%v\n", cmd)
}
