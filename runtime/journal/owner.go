package journal

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

var ownerID = regexp.MustCompile(`^[a-z2-7]{26}$`)

// identity reads the state directory's identity, and makes one where there is none and create says so.
func (j *Journal) identity(ctx context.Context, create bool) (string, error) {
	id, err := j.readOwner()
	if !create || !errors.Is(err, fs.ErrNotExist) {
		return id, err
	}
	l := flock.New(filepath.Join(j.dir, ownerLockName), lockOptions(true)...)
	if _, err := l.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		return "", fmt.Errorf("waiting for whoever makes the identity: %w", err)
	}
	defer l.Close()
	// Whoever held the lock before may have made it.
	if id, err = j.readOwner(); !errors.Is(err, fs.ErrNotExist) {
		return id, err
	}
	id = newOwner()
	if err := replace(j.dir, ownerName, []byte(id+"\n"), true); err != nil {
		return "", fmt.Errorf("writing the identity: %w", err)
	}
	return id, nil
}

// newOwner is 128 random bits.
func newOwner() string {
	var b [16]byte
	rand.Read(b[:]) // never fails: crypto/rand
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}

// readOwner reads the identity. One that is not whole is never replaced: the engines' resources carry the true one.
func (j *Journal) readOwner() (string, error) {
	path := filepath.Join(j.dir, ownerName)
	b, err := readSmall(path, 64)
	if err != nil {
		return "", err
	}
	id := strings.TrimSuffix(string(b), "\n")
	if !ownerID.MatchString(id) {
		return "", &unsafeError{path, "it does not hold an identity", "restore it from a backup, or take it from the label sbxkit.owner of what the engine still has"}
	}
	return id, nil
}
