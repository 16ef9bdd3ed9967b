package engine

import (
	"testing"

	"github.com/sbxkit/sbxkit/runtime"
)

func TestAKnownCommandHoldsOnlyWhereNothingIsMountedOverItsPaths(t *testing.T) {
	key := commandKey{endpoint: "e", image: "i", command: "sh", dir: "/", searchPath: "/bin"}
	paths := []string{"/bin/sh", "/etc/alternatives/sh"}
	mount := func(target string) []runtime.Mount {
		return []runtime.Mount{{Kind: runtime.MountBindRO, Target: target}}
	}
	for _, c := range []struct {
		name       string
		remembered []runtime.Mount
		asked      []runtime.Mount
		key        commandKey
		want       bool
	}{
		{"nothing mounted", nil, nil, key, true},
		{"mounted elsewhere", nil, mount("/workspace"), key, true},
		{"over the command", nil, mount("/bin/sh"), key, false},
		{"over its directory", nil, mount("/bin"), key, false},
		{"over where its link leads", nil, mount("/etc"), key, false},
		{"over everything", nil, mount("/"), key, false},
		{"beside it", nil, mount("/bin/shells"), key, true},
		{"found under a mount of its own", mount("/bin"), nil, key, false},
		{"another image", nil, nil, commandKey{endpoint: "e", image: "j", command: "sh", dir: "/", searchPath: "/bin"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var cache commandCache
			cache.remember(key, paths, c.remembered)
			if got := cache.known(c.key, c.asked); got != c.want {
				t.Errorf("known %v, want %v", got, c.want)
			}
		})
	}
	var cache commandCache
	for range maxKnownCommands + 10 {
		key.command += "x"
		cache.remember(key, paths, nil)
	}
	if len(cache.found) > maxKnownCommands {
		t.Errorf("%d entries", len(cache.found))
	}
}
