// Package a launches.
package a

import (
	"context"
	"os"
	"os/exec"
	"runner"
	"strings"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

func environ() map[string]string {
	m := make(map[string]string)
	for _, kv := range os.Environ() {
		k, v, _ := strings.Cut(kv, "=")
		m[k] = v
	}
	return m
}

func launch(ctx context.Context, s *sbx.Sandbox) {
	s.Run(ctx, sbx.Launch{Environment: sbx.Environment{Set: environ()}}) // want `hands the host's environment to the launch`
	var l sbx.Launch
	l.Environment.Set = make(map[string]string)
	for _, kv := range os.Environ() {
		i := strings.IndexByte(kv, '=')
		l.Environment.Set[kv[:i]] = kv[i+1:] // want `hands the host's environment to the launch`
	}
	l.Environment.Forward = runner.Everything() // want `hands the host's environment to the launch`
	fill(&l, environ())                         // want `hands the host's environment to the launch.*fill`
	fill(&l, map[string]string{"LANG": os.Getenv("LANG")})
	fill(&l, map[string]string{"X": os.Getenv("AWS_SECRET_ACCESS_KEY")}) // want `puts the credential AWS_SECRET_ACCESS_KEY`
	func() {
		fill(&l, environ()) // want `hands the host's environment to the launch`
	}()
	f := fill
	f(&l, environ()) // want `hands the host's environment to the launch`
	s.Run(ctx, l)
}

func fill(l *sbx.Launch, env map[string]string) { l.Environment.Set = env }

func credentials() []sbx.Launch {
	token, _ := os.LookupEnv("NPM_TOKEN")
	return []sbx.Launch{
		{Environment: sbx.Environment{Set: map[string]string{"NPM_TOKEN": token}}}, // want `puts the credential NPM_TOKEN`
		{Credentials: map[string]sbx.Credential{"npm": {Value: token}}},
		{Environment: sbx.Environment{Set: map[string]string{"LANG": os.Getenv("LANG"), "PATH": environ()["PATH"]}}},
		{Environment: sbx.Environment{Forward: []string{"LANG"}, Deny: []string{"NPM_TOKEN"}}},
	}
}

func outside(name string) {
	exec.Command(name).Run()
	cmd := exec.Command(name)
	cmd.Env = os.Environ()
	cmd.Run()
}
