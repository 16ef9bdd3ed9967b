package engine

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"strings"

	"github.com/docker/docker/api/types/container"
)

// stat reads the first entry of the archive of a path, and leaves the rest. Podman's program follows a symbolic link at the path itself, so
// that none is ever seen there.
func (c *cli) stat(ctx context.Context, name, file string) (*container.PathStat, error) {
	ctx, cancel := bounded(ctx, c.limit.look, "cp")
	defer cancel()
	body, err := c.download(ctx, name, file)
	if err != nil {
		return nil, err
	}
	h, err := tar.NewReader(body).Next()
	cancel() // what follows the header is not wanted
	_ = body.Close()
	if err != nil {
		return nil, fmt.Errorf("looking at %s: %w", file, err)
	}
	return &container.PathStat{Name: path.Base(file), Size: h.Size, Mode: h.FileInfo().Mode(), Mtime: h.ModTime, LinkTarget: h.Linkname}, nil
}

func (c *cli) upload(ctx context.Context, name, dir string, archive io.Reader) error {
	words := []string{"cp", "-", name + ":" + dir}
	if c.isPodman() {
		// Podman's program gives what it copies to the container's user unless told otherwise.
		words = []string{"cp", "--archive=false", "-", name + ":" + dir}
	}
	if _, err := c.call(ctx, c.limit.archive, archive, words...); err != nil {
		return c.classify(ctx, err, c.there(name))
	}
	return nil
}

func (c *cli) download(ctx context.Context, name, file string) (io.ReadCloser, error) {
	ctx, cancel := bounded(ctx, c.limit.archive, "cp")
	words := []string{"cp", name + ":" + file, "-"}
	cmd := c.client(ctx, words...)
	says := &capped{limit: maxSays}
	cmd.Stderr = says
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("starting %s: %w", c.program, err)
	}
	d := &cliDownload{c: c, ctx: ctx, cancel: cancel, cmd: cmd, out: out, says: says, words: words}
	// An archive begins with a block; a program that has none to give ends without one.
	d.first = make([]byte, tarBlock)
	n, err := io.ReadFull(out, d.first)
	d.first = d.first[:n]
	if n == 0 {
		failed := d.end()
		if failed == nil {
			failed = fmt.Errorf("an empty archive: %w", err)
		}
		return nil, c.classify(context.WithoutCancel(ctx), failed, func(ctx context.Context) (bool, error) {
			// The container is there where it can be described; then it is the path that is not.
			there, err := c.there(name)(ctx)
			if err != nil {
				return true, err
			}
			return !there, nil
		})
	}
	return d, nil
}

// tarBlock is the size of a block of an archive.
const tarBlock = 512

// cliDownload is the output of a copy.
type cliDownload struct {
	c      *cli
	ctx    context.Context
	cancel context.CancelFunc
	cmd    *exec.Cmd
	out    io.ReadCloser
	says   *capped
	words  []string
	first  []byte
	whole  bool
	ended  bool
	err    error
}

func (d *cliDownload) Read(p []byte) (int, error) {
	if len(d.first) != 0 {
		n := copy(p, d.first)
		d.first = d.first[n:]
		return n, nil
	}
	n, err := d.out.Read(p)
	if errors.Is(err, io.EOF) {
		d.whole = true
		if failed := d.end(); failed != nil {
			return n, failed
		}
	}
	return n, err
}

// end waits for the program. It is called once the output has ended, or to give it up.
func (d *cliDownload) end() error {
	if d.ended {
		return d.err
	}
	d.ended = true
	defer d.cancel()
	err := d.cmd.Wait()
	switch {
	case err == nil:
	case d.ctx.Err() != nil:
		d.err = context.Cause(d.ctx)
	default:
		d.err = &cliError{words: d.words, says: strings.TrimSpace(d.says.String()), err: err}
	}
	return d.err
}

// Close gives up what was not read; only a copy that was read to its end can fail.
func (d *cliDownload) Close() error {
	if d.whole {
		return d.end()
	}
	d.cancel()
	_ = d.out.Close()
	_ = d.end()
	return nil
}
