package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	sbx "github.com/sbxkit/sbxkit/runtime"
)

// The bounds of a candidate.
const (
	maxFiles = 1000
	maxBytes = 8 << 20
)

// change is one path that a candidate changes.
type change struct {
	path    string
	mode    string // as git has it
	content []byte
	removed bool
}

// importer is the controller's side of steps 6 and 7: it alone decides what becomes of a candidate.
type importer struct {
	git    Git
	dir    string // of exports and indexes, the controller's own
	issues map[string]Issue
}

var _ sbx.Controller = (*importer)(nil)

// ExportDir is where an engine's archive is unpacked.
func (m *importer) ExportDir(_ context.Context, p *sbx.Plan) (string, error) {
	dir := m.exportDir(p.Token.Run.ID)
	return dir, os.MkdirAll(dir, 0o700)
}

func (m *importer) exportDir(run string) string { return filepath.Join(m.dir, "exports", run) }

func (m *importer) forget(run string) error { return os.RemoveAll(m.exportDir(run)) }

// Verify refuses a candidate of a command that failed, and one that changes anything but what its issue is about.
func (m *importer) Verify(ctx context.Context, c *sbx.Candidate) error {
	if c.Outcome != sbx.Exited || c.Code != 0 {
		return fmt.Errorf("its command did not succeed (%s, %d)", c.Outcome, c.Code)
	}
	if !c.Worktree && (!c.Manifest.Whole || sbx.DigestManifest(c.Manifest.Files) != c.Manifest.Digest) {
		return errors.New("its manifest is not whole")
	}
	_, _, err := m.changes(ctx, c)
	return err
}

// Import makes a commit of the candidate and names it. The name is made only where it does not exist, in one step: a second candidate of an issue
// can never be imported, whenever this process dies.
func (m *importer) Import(ctx context.Context, c *sbx.Candidate) error {
	issue, changes, err := m.changes(ctx, c)
	if err != nil {
		return err
	}
	commit, err := m.git.commit(ctx, issue.Base, fmt.Sprintf("%s\n\nIssue %s\n", issue.Title, issue.ID), filepath.Join(m.dir, "index-"+c.RunID), changes)
	if err != nil {
		return err
	}
	_, err = m.git.run(ctx, nil, nil, "update-ref", candidateRef(issue.ID), commit, zeroID)
	return err
}

// changes reads a candidate and compares it with its base. Nothing outside the candidate is followed to.
func (m *importer) changes(ctx context.Context, c *sbx.Candidate) (issue Issue, changes []change, err error) {
	issue, ok := m.issues[c.Labels[issueLabel]]
	if !ok {
		return issue, nil, fmt.Errorf("nobody asked for a candidate of issue %q", c.Labels[issueLabel])
	}
	dir := c.Dir
	if !c.Worktree {
		dir = filepath.Join(dir, filepath.Base(workspace)) // the export has the declared path by its name
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return issue, nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	base, err := m.git.files(ctx, issue.Base)
	if err != nil {
		return issue, nil, err
	}
	files, left := 0, int64(maxBytes)
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() != ".git" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files, left = files+1, left-info.Size()
		switch {
		case !d.Type().IsRegular():
			return fmt.Errorf("%q is no regular file", name)
		case strings.EqualFold(d.Name(), ".git"):
			return fmt.Errorf("%q is a repository's own", name)
		case files > maxFiles || left < 0:
			return fmt.Errorf("it has more than %d files or %d bytes", maxFiles, maxBytes)
		}
		content, err := root.ReadFile(name)
		if err != nil {
			return err
		}
		blob, err := m.git.blob(ctx, content, false)
		if err != nil {
			return err
		}
		was, known := base[name]
		delete(base, name)
		if known && was == blob {
			return nil
		}
		mode := "100644"
		if info.Mode()&0o100 != 0 {
			mode = "100755"
		}
		changes = append(changes, change{path: name, mode: mode, content: content})
		return nil
	})
	if err != nil {
		return issue, nil, err
	}
	for name := range base {
		changes = append(changes, change{path: name, removed: true})
	}
	slices.SortFunc(changes, func(a, b change) int { return strings.Compare(a.path, b.path) })
	for _, c := range changes {
		if !slices.ContainsFunc(issue.Paths, func(p string) bool { ok, err := path.Match(p, c.path); return ok && err == nil }) {
			return issue, nil, fmt.Errorf("it changes %q, and issue %s is about %q", c.path, issue.ID, issue.Paths)
		}
	}
	if len(changes) == 0 {
		return issue, nil, errors.New("it changes nothing")
	}
	return issue, changes, nil
}
