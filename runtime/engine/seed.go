package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/runtime/stage"
)

// seed uploads the snapshot to the workspace's volume, owned by the run's user.
func (r *resources) seed(ctx context.Context, s *runtime.Stage, as owner) (string, error) {
	target := s.Workspace.Target
	if as != (owner{}) {
		if err := r.giveVolume(ctx, target, as); err != nil {
			return "", err
		}
	}
	archive := stage.Pack(ctx, s.Snapshot, as.uid, as.gid)
	err := r.link.upload(ctx, r.token.Name, target, archive)
	files, bytes, packing := archive.Close()
	if packing != nil {
		return "", runtime.Fail(runtime.Setup, "packing the workspace: %w", packing)
	}
	if err != nil {
		return "", r.b.setup(r.link, err, "uploading the workspace to %s", target)
	}
	return fmt.Sprintf("workspace: %s, %d bytes, uploaded to %s", plural(int(files), "file"), bytes, target), nil
}

// giveVolume makes the workspace's volume the run's user's. A new volume belongs to root, and engines do not change the directory that an
// archive is unpacked at, only what is in it (moby, pkg/archive: Unpack passes over "."). Docker unpacks at the root of a container
// through its volumes, so that there the volume is an entry like all others; that takes a container whose root can be written to. Podman
// does not go through, and gives a volume to the user of the container that first starts with it; but where the image has a directory at the
// target, Podman gives the volume that one's owner and mode, whatever else was asked (measured, 4.3.1).
func (r *resources) giveVolume(ctx context.Context, target string, as owner) (err error) {
	name := r.token.Name + seedSuffix
	gone, err := r.seeder(ctx, name, target)
	if err != nil {
		return err
	}
	defer func() {
		if e := gone(); err == nil {
			err = e
		}
	}()
	archive, err := pack("/", []stagedFile{{path: target, mode: 0o755, uid: as.uid, gid: as.gid, dir: true}})
	if err != nil {
		return runtime.Fail(runtime.Setup, "packing the workspace's directory: %w", err)
	}
	if err := r.link.upload(ctx, name, "/", archive); err != nil {
		return r.b.setup(r.link, err, "giving %s to the user %d:%d", target, as.uid, as.gid)
	}
	return nil
}

// seeder makes a container that is never started, with the workspace's volume in it and a root that can be written to.
func (r *resources) seeder(ctx context.Context, name, target string) (gone func() error, err error) {
	req := &CreateRequest{
		Config: &Config{Image: r.plan.Request.Image.Ref, Cmd: StrSlice{"true"}, Labels: ownership(r.plan, time.Now())},
		HostConfig: &HostConfig{NetworkMode: "none", Mounts: []Mount{{
			Type: MountTypeVolume, Source: r.token.Name + workspaceSuffix, Target: target,
		}}},
		Networking: &NetworkingConfig{}, Name: name,
	}
	making, cancel := lingering(ctx, r.b.limit.afterwards)
	defer cancel()
	gone = func() error {
		cleanup, cancel := detached(ctx, r.b.limit.remove, "the removal of the container the workspace was uploaded through")
		defer cancel()
		return r.b.removeContainer(cleanup, r.link, name)
	}
	if _, err := r.link.create(making, req, nil); err != nil {
		if e := gone(); e != nil {
			return nil, e
		}
		return nil, r.refusal(err, "making the container %s to upload the workspace through", name)
	}
	return gone, nil
}
