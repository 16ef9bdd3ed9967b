package engine

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	cerrdefs "github.com/containerd/errdefs"

	"github.com/sbxkit/sbxkit/runtime"
)

// owner is a user and group by number, as the container sees them.
type owner struct{ uid, gid int }

// maxPasswd bounds what is read of an image's /etc/passwd and /etc/group.
const maxPasswd = 1 << 20

// owner is who the command runs as. An image may name its user in words; its own /etc/passwd then says the numbers, as the engine
// reads them.
func (r *resources) owner(ctx context.Context) (owner, error) {
	u := r.plan.Request.User
	if u.Kind == runtime.UserID || u.Kind == runtime.UserCaller {
		return owner{u.UID, u.GID}, nil
	}
	if r.plan.Image == nil || r.plan.Image.User == "" {
		return owner{}, nil
	}
	user, group, grouped := strings.Cut(r.plan.Image.User, ":")
	o := owner{}
	uid, err := strconv.Atoi(user)
	switch {
	case err == nil:
		o.uid = uid
		if !grouped {
			fields, err := r.lookUp(ctx, "/etc/passwd", 2, user)
			if err != nil && !errors.Is(err, errNoUser) {
				return owner{}, err
			}
			if err == nil {
				o.gid, _ = strconv.Atoi(fields[3]) // lookUp has checked it
			}
		}
	default:
		fields, err := r.lookUp(ctx, "/etc/passwd", 0, user)
		if err != nil {
			return owner{}, runtime.Fail(runtime.Setup, "the image's user %q: %w", user, err).About("user.image")
		}
		o.uid, _ = strconv.Atoi(fields[2])
		o.gid, _ = strconv.Atoi(fields[3])
	}
	if grouped {
		gid, err := strconv.Atoi(group)
		if err != nil {
			fields, err := r.lookUp(ctx, "/etc/group", 0, group)
			if err != nil {
				return owner{}, runtime.Fail(runtime.Setup, "the image's group %q: %w", group, err).About("user.image")
			}
			gid, _ = strconv.Atoi(fields[2])
		}
		o.gid = gid
	}
	return o, nil
}

// lookUp finds the line of a colon-separated file inside whose field has a value; its numbers are numbers.
func (r *resources) lookUp(ctx context.Context, file string, field int, value string) ([]string, error) {
	body, err := r.link.download(ctx, r.token.Name, file)
	if cerrdefs.IsNotFound(err) {
		return nil, errNoUser
	}
	if err != nil {
		return nil, r.b.setup(r.link, err, "reading %s of the image", file)
	}
	defer body.Close()
	archive := tar.NewReader(body)
	if _, err := archive.Next(); err != nil {
		return nil, runtime.Fail(runtime.Setup, "reading %s of the image: %w", file, err)
	}
	lines := bufio.NewScanner(io.LimitReader(archive, maxPasswd))
	for lines.Scan() {
		f := strings.Split(lines.Text(), ":")
		if len(f) <= field || f[field] != value || len(f) < 3 {
			continue
		}
		if _, err := strconv.Atoi(f[2]); err != nil {
			continue
		}
		if file == "/etc/passwd" {
			if len(f) < 4 {
				continue
			}
			if _, err := strconv.Atoi(f[3]); err != nil {
				continue
			}
		}
		return f, nil
	}
	if err := lines.Err(); err != nil {
		return nil, runtime.Fail(runtime.Setup, "reading %s of the image: %w", file, err)
	}
	return nil, errNoUser
}
