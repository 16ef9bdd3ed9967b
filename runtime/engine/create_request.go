package engine

import (
	"fmt"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/sbxkit/sbxkit/runtime"
)

// CreateRequest is the API's side of a plan: what POST /containers/create gets. Specs name its fields by path ("HostConfig.PidsLimit"),
// and the generator resolves those paths against this type.
//
// It holds private values (Config.Env): it prints as a fixed word.
type CreateRequest struct {
	Config     *container.Config
	HostConfig *container.HostConfig
	// Networking is filled in by the room for networks of the run; a spec seldom needs it.
	Networking *network.NetworkingConfig
	// Platform asks for one variant of a multi-platform image; empty is the engine's own.
	Platform *ocispec.Platform
	// Name of the container. The room sets it to the run's name.
	Name string
	// Aliases are the container's names in the run's private network.
	Aliases []string
}

// NewCreateRequest gives a request with nothing asked for and every pointer set, so that a builder can assign fields directly.
func NewCreateRequest(r *runtime.Request) *CreateRequest {
	return &CreateRequest{
		Config:     &container.Config{},
		HostConfig: &container.HostConfig{},
		Networking: &network.NetworkingConfig{},
		Platform:   &ocispec.Platform{},
		Name:       r.Run.Name(),
	}
}

// Format prints a fixed word, whatever the verb: the request holds private values.
func (*CreateRequest) Format(f fmt.State, _ rune) { fmt.Fprint(f, "<create request>") }
