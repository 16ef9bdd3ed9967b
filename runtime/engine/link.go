package engine

import (
	"context"
	"errors"
	"io"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
)

// link is one way to talk to one engine: its API, or its command line program. Each call is bounded by a deadline of its own besides ctx,
// gives the engine's answer as it is, and decides nothing. A name or path that is not there is an error that cerrdefs.IsNotFound
// recognises, on every link. Links are safe for concurrent use.
type link interface {
	endpoint() endpoint
	// who is what the last greeting said; empty before.
	who() greeting
	// greet asks who answers, and in which version of the API; info asks for the rest, which can take half a second.
	greet(ctx context.Context) (*types.Version, string, error)
	info(ctx context.Context) (*system.Info, error)

	image(ctx context.Context, ref string) (*image.InspectResponse, error)
	// pull fetches an image; progress gets a line for each step and may be nil.
	pull(ctx context.Context, ref, platform string, progress func(string)) error

	// create makes a container. After an error the container may still appear: the engine's work goes on when a caller leaves.
	create(ctx context.Context, r *CreateRequest, argv []string) (warnings []string, err error)
	inspect(ctx context.Context, name string) (*container.InspectResponse, error)
	// missing is nil while there is a container of the name, which it does not describe.
	missing(ctx context.Context, name string) error
	// find lists the containers, in whatever state, that carry a label ("key" or "key=value").
	find(ctx context.Context, label string) ([]found, error)
	// stat describes a path inside a container, without following a last symbolic link.
	stat(ctx context.Context, name, path string) (*container.PathStat, error)
	// upload unpacks a tar archive at a directory inside.
	upload(ctx context.Context, name, dir string, archive io.Reader) error
	// download gives a tar archive of a path inside.
	download(ctx context.Context, name, path string) (io.ReadCloser, error)

	// start attaches to a created container, asks for its next exit, and starts it, in this order. run outlives ctx.
	start(ctx context.Context, name string, s startOptions) (*attachment, error)
	// notices listens to what happens to a container until ctx ends or it is closed; an engine without such a stream ends it at once.
	notices(ctx context.Context, name string) *notices
	kill(ctx context.Context, name, signal string) error
	// remove removes a container by force, with its anonymous volumes; it does not wait for its absence, and need not tell it.
	remove(ctx context.Context, name string) error
	resize(ctx context.Context, name string, columns, rows uint16) error
	// checkHealth runs a container's health check now, to its end; Docker's are run by the engine alone.
	checkHealth(ctx context.Context, name string) error
	// exec runs a command inside and gives its exit status.
	exec(ctx context.Context, name string, argv []string) (int, error)

	createVolume(ctx context.Context, name string, labels map[string]string) error
	removeVolume(ctx context.Context, name string) error
	findVolumes(ctx context.Context, label string) ([]found, error)
	createNetwork(ctx context.Context, name string, labels map[string]string) error
	// resolves reports whether containers of a network find each other by name.
	resolves(ctx context.Context, network string) (bool, error)
	removeNetwork(ctx context.Context, name string) error
	findNetworks(ctx context.Context, label string) ([]found, error)

	close() error
}

// found is a labelled resource of an engine.
type found struct {
	name   string
	state  string // of a container
	labels map[string]string
}

// startOptions say how a container is attached to and started.
type startOptions struct {
	stdin    bool
	terminal bool
	// stdout and stderr get the output, from one goroutine. A terminal has stdout alone.
	stdout, stderr io.Writer
	// dir is where a process that stands for the run on this host works: the run's own directory, or "" for the root directory.
	dir string
	// ready is called when everything stands and the next call lets the command go; its error keeps it from going.
	ready func() error
}

// answered reports whether err is what an engine said, as against a call that got no answer. Engines answer with an HTTP status, which
// the client turns into one of containerd's error classes.
func answered(err error) bool {
	if err == nil || client.IsErrConnectionFailed(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	for _, class := range []func(error) bool{
		cerrdefs.IsNotFound, cerrdefs.IsInvalidArgument, cerrdefs.IsConflict, cerrdefs.IsNotModified, cerrdefs.IsFailedPrecondition,
		cerrdefs.IsUnauthorized, cerrdefs.IsPermissionDenied, cerrdefs.IsResourceExhausted, cerrdefs.IsInternal, cerrdefs.IsNotImplemented,
		cerrdefs.IsUnavailable, cerrdefs.IsUnknown,
	} {
		if class(err) {
			return true
		}
	}
	return false
}
