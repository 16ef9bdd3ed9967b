//go:build linux

package enginetest

import "strings"

// exception is a difference between the two containers that is right as it is.
type exception struct {
	engine string
	// field is the path of a field in the engine's description, after the form; a last * stands for any rest.
	field string
	// words and request are what the field has; empty for whatever it is.
	words, request string
	because        string
}

func (x exception) covers(engine string, d difference) bool {
	field := x.field == d.field
	if prefix, ok := strings.CutSuffix(x.field, "*"); ok {
		field = strings.HasPrefix(d.field, prefix)
	}
	return field && x.engine == engine && (x.words == "" || x.words == d.words) && (x.request == "" || x.request == d.request)
}

const (
	// What no two containers have in common.
	itsOwn = "each container has its own"
	// What only the driver's own step adds.
	ownership = "a run's container is also labelled with what a person who finds it wants to know"
	anyPort   = "a port of the host that is left to Podman is chosen when the container is made"
)

var exceptions = []exception{
	{"docker", "docker:Created", "", "", itsOwn},
	{"docker", "docker:GraphDriver.Data.*", "", "", itsOwn},
	{"docker", "docker:HostConfig.RestartPolicy.Name", `"no"`, `""`, "the program says outright what nothing means too"},
	{"docker", "docker:Config.Labels.sbxkit.step", "(absent)", "", ownership},
	{"docker", "docker:Config.Labels.sbxkit.plan", "(absent)", "", ownership},
	{"docker", "docker:Config.Labels.sbxkit.boot", "(absent)", "", ownership},
	{"docker", "docker:Config.Labels.sbxkit.created", "(absent)", "", ownership},

	{"podman", "docker:Created", "", "", itsOwn},
	{"podman", "libpod:Created", "", "", itsOwn},
	{"podman", "docker:GraphDriver.Data.*", "", "", itsOwn},
	{"podman", "libpod:GraphDriver.Data.*", "", "", itsOwn},
	{"podman", "docker:Config.Labels.sbxkit.*", "(absent)", "", ownership},
	{"podman", "libpod:Config.Labels.sbxkit.*", "(absent)", "", ownership},
	{"podman", "docker:HostConfig.PortBindings.8080/tcp", "", "", anyPort},
	{"podman", "libpod:HostConfig.PortBindings.8080/tcp", "", "", anyPort},
	{"podman", "docker:NetworkSettings.Ports.8080/tcp", "", "", anyPort},
	{"podman", "libpod:NetworkSettings.Ports.8080/tcp", "", "", anyPort},
	{"podman", "libpod:Config.CreateCommand", "", "", "Podman keeps the words of the process that made it"},
	{
		"podman", "libpod:Config.Umask", `"0022"`, `"0000"`,
		"a record that was not made: without one the container gets 0022 too, as TestTheUmaskIsTheUsualOne sees",
	},
	{"podman", "libpod:Config.sdNotifyMode", `"container"`, "(absent)", "the API has no word for it; nothing here is a systemd unit"},
	{"podman", "docker:Config.StopTimeout", "10", "0", "of podman stop, which no step calls"},
	{"podman", "libpod:Config.StopTimeout", "10", "0", "of podman stop, which no step calls"},
}
