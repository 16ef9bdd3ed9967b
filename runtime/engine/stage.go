package engine

import (
	"context"
	"errors"
	"path"
	"strings"

	"github.com/sbxkit/sbxkit/runtime"
)

// Stage uploads the script, credential files, files with given content and the workspace's snapshot, and looks for the command. All of it
// is in the container before anything of it runs, and before the launch is charged.
func (r *resources) Stage(ctx context.Context, s *runtime.Stage) (string, error) {
	if r.plan == nil {
		return "", runtime.Fail(runtime.Unsupported, "nothing is staged for a reopened run").At(runtime.StepStage)
	}
	note, err := r.stage(ctx, s)
	if err != nil {
		return "", runtime.AsFailure(err, runtime.Setup).At(runtime.StepStage)
	}
	return note, nil
}

func (r *resources) stage(ctx context.Context, s *runtime.Stage) (string, error) {
	var notes []string
	req := r.plan.Request
	files, elsewhere := r.files(s)
	var as owner
	if len(s.Credentials) != 0 || s.Snapshot != "" {
		var err error
		if as, err = r.owner(ctx); err != nil {
			return "", err
		}
	}
	for i := range files {
		if files[i].private {
			files[i].uid, files[i].gid = as.uid, as.gid
		}
	}
	for _, group := range []struct {
		dir   string
		files []stagedFile
	}{{stageDir, files}, {"/", elsewhere}} {
		if len(group.files) == 0 {
			continue
		}
		archive, err := pack(group.dir, group.files)
		if err != nil {
			return "", runtime.Fail(runtime.Setup, "packing what is staged at %s: %w", group.dir, err)
		}
		if err := r.link.upload(ctx, r.token.Name, group.dir, archive); err != nil {
			return "", r.b.setup(r.link, hide(err, req), "uploading %s to %s", plural(len(group.files), "file"), group.dir)
		}
		notes = append(notes, plural(len(group.files), "file")+" uploaded to "+group.dir)
	}
	if s.Snapshot != "" && s.Workspace != nil {
		note, err := r.seed(ctx, s, as)
		if err != nil {
			return "", err
		}
		notes = append(notes, note)
	}
	if err := r.lookCommand(ctx); err != nil {
		return "", err
	}
	return strings.Join(notes, "; "), nil
}

// files lists what is staged below the stage directory, and what is put elsewhere in the container's root.
func (r *resources) files(s *runtime.Stage) (here, elsewhere []stagedFile) {
	if s.Script != nil {
		here = append(here, stagedFile{path: s.Script.Target, mode: 0o444, data: s.Script.Text})
	}
	for _, c := range s.Credentials {
		if c.File == "" {
			continue
		}
		mode := int64(c.Mode)
		if mode == 0 {
			mode = 0o400
		}
		here = append(here, stagedFile{path: c.File, mode: mode, data: c.Value, private: true})
	}
	for _, m := range r.plan.Request.Mounts {
		f := stagedFile{path: m.Target, mode: int64(m.Mode.Perm()), data: m.Data}
		switch m.Kind {
		case runtime.MountFile:
			if f.mode == 0 {
				f.mode = 0o444
			}
		case runtime.MountSymlink:
			f.link = m.Source
		case runtime.MountDir:
			f.dir = true
			if f.mode == 0 {
				f.mode = 0o755
			}
		default:
			continue
		}
		if below(f.path, stageDir) {
			here = append(here, f)
		} else {
			elsewhere = append(elsewhere, f)
		}
	}
	return here, elsewhere
}

// lookCommand refuses a command that is not there or cannot be executed.
func (r *resources) lookCommand(ctx context.Context) error {
	if err := r.lookJoiner(ctx); err != nil {
		return err
	}
	return r.lookFor(ctx, ownCommand(r.plan.Request))
}

// lookFor refuses one program by name or path.
func (r *resources) lookFor(ctx context.Context, command string) error {
	req := r.plan.Request
	searchPath := ""
	if r.plan.Image != nil {
		searchPath = variable(r.plan.Image.Env, "PATH")
	}
	for _, v := range req.Env {
		if v.Name == "PATH" {
			searchPath = v.Value
		}
	}
	dir := req.Dir
	if dir == "" && r.plan.Image != nil {
		dir = r.plan.Image.Workdir
	}
	key := commandKey{endpoint: r.token.Endpoint, command: command, dir: dir, searchPath: searchPath}
	if r.plan.Image != nil {
		key.image = r.plan.Image.ID
	}
	if r.b.commands.known(key, req.Mounts) {
		return nil
	}
	var visited []string
	hidden := hiddenBy(req.Mounts)
	m, err := lookCommand(ctx, r.link, r.token.Name, command, dir, searchPath, func(p string) bool {
		visited = append(visited, p)
		return hidden(p)
	})
	if err != nil {
		return r.b.setup(r.link, err, "looking for the command %q in the container", command)
	}
	if m != nil {
		return m.failure()
	}
	r.b.commands.remember(key, visited, req.Mounts)
	return nil
}

func variable(env []string, name string) string {
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// errNoUser is the class of a user name that the image does not have.
var errNoUser = errors.New("no such user in the image")

// relative is a path below dir as an archive names it.
func relative(dir, p string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path.Clean(p), dir), "/")
}
