package journal

import (
	"path/filepath"
	"regexp"

	"github.com/sbxkit/sbxkit/runtime"
)

// Journal is an open state directory. It holds no file open and no lock; it is safe for concurrent use.
type Journal struct {
	dir   string // absolute
	owner string
}

var _ runtime.Journal = (*Journal)(nil)

// The names in a state directory.
const (
	ownerName     = "owner"
	ownerLockName = "owner.lock"
	runsName      = "runs"
	lockName      = "lock"
	recordName    = "record.json"
)

const (
	dirPerm  = 0o700
	filePerm = 0o600
)

// Dir is the state directory, absolute.
func (j *Journal) Dir() string { return j.dir }

// Owner is the random identity of the state directory: 26 characters of lower-case base32, the same for ever.
func (j *Journal) Owner() string { return j.owner }

// RunDir is where the run's own directory is or will be.
func (j *Journal) RunDir(id string) string { return filepath.Join(j.runs(), id) }

func (j *Journal) runs() string { return filepath.Join(j.dir, runsName) }

// runID is what can name a run: one path element that is no option and hides nothing.
var runID = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
