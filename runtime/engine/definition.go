package engine

import "github.com/sbxkit/sbxkit/runtime"

// Definition is what a generated backend tells this room about its engine. It is not changed after New.
type Definition struct {
	// Description is the spec's data.
	Description *runtime.Description
	// Argv builds the words of the engine's own command line for a run ("run", "--name", …), without the program. Pure.
	Argv func(*runtime.Request) []string
	// Explain gives the same words in the same order with their origins, private values replaced. Pure.
	Explain func(*runtime.Request) []runtime.Word
	// Create builds the API request that makes the same container. Pure; it starts from NewCreateRequest and returns a value of its own.
	Create func(*runtime.Request) *CreateRequest
	// Engines are the engines this backend accepts, by the name the engine gives itself in GET /version, Components[0].Name ("Podman
	// Engine"; Docker's own name there is "Engine", and is written "Docker Engine" here). Any other engine is Unsupported.
	Engines []string
	// EndpointEnv are the variables of the controller that name an endpoint, first set one wins.
	EndpointEnv []string
	// Contexts is true where the tool keeps named endpoints (docker context): the current one is asked after EndpointEnv.
	Contexts bool
	// Sockets are the default places of the engine's socket, tried in order; a word that begins with $ is a variable, and an entry whose
	// variable is not set is left out ("$XDG_RUNTIME_DIR/docker.sock", "/var/run/docker.sock").
	Sockets []string
	// Program is the engine's command line program ("docker"): the argv's first word, the second driver and the cures name it.
	Program string
	// Override is the variable of the controller that names another program, empty for none.
	Override string
	// Probe is the command of the probe's minimal launch; empty leaves the image's own.
	Probe []string
	// Options are what the caller of the generated New chose.
	Options Options
}

// Options are the choices left to the caller of a generated backend's New. The zero value is right for most.
type Options struct {
	// Endpoint of the engine ("unix:///run/docker.sock", "tcp://host:2376", "ssh://user@host"). Empty: Definition.EndpointEnv, then the
	// current context, then the first default socket that exists.
	Endpoint string
	// Via says which way the engine is driven.
	Via Via
	// Program replaces Definition.Program.
	Program string
	// Image is what the probe launches where neither the probe's request nor the policy names one.
	Image string
}

// Via is a way to drive an engine.
type Via string

// The ways to drive an engine. The zero value is the API.
const (
	ViaDefault Via = ""
	ViaAPI     Via = "api"
	ViaCLI     Via = "cli"
)
