package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/sbxkit/sbxkit/runtime"
)

// recordBytes bounds a record's file. One is about a kilobyte.
const recordBytes = 1 << 20

var (
	// ErrCorrupt is a record that is not whole or not a record.
	ErrCorrupt = errors.New("the record is corrupt")
	// ErrNewer is a record that a newer version of this package wrote.
	ErrNewer = errors.New("the record was written by a newer version")
)

// envelope is the file: the version first, for whoever reads it, and the record with its checksum, so that a file that is not whole, or
// was changed by anything but this package, is known as such.
type envelope struct {
	Version int             `json:"version"`
	SHA256  string          `json:"sha256"` // of the bytes of record
	Record  json.RawMessage `json:"record"`
}

// stored is a record as it is written.
type stored struct {
	runtime.Record
	// RawPaths stand for token.paths where one of those is not valid UTF-8, which JSON cannot hold.
	RawPaths [][]byte `json:"raw_paths,omitempty"`
	// Turn counts the records of a run that are kept on disk, each in the one of two files that does not hold the last: the newest whole one
	// is the record (keep). 0 in one that is not.
	Turn uint64 `json:"turn,omitempty"`
}

// encode gives the file of a record. The run's directory is left out: a state directory may be moved.
func encode(r runtime.Record) ([]byte, error) { return encodeTurn(r, 0) }

func encodeTurn(r runtime.Record, turn uint64) ([]byte, error) {
	s := stored{Record: r, Turn: turn}
	s.Version = runtime.RecordVersion
	s.Run.Dir, s.Token.Run.Dir = "", ""
	if slices.ContainsFunc(r.Token.Paths, func(p string) bool { return !utf8.ValidString(p) }) {
		for _, p := range r.Token.Paths {
			s.RawPaths = append(s.RawPaths, []byte(p))
		}
		s.Token.Paths = nil
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encoding the record: %w", err)
	}
	if b, err = encodeRaw(b); err != nil {
		return nil, err
	}
	if len(b) > recordBytes {
		return nil, fmt.Errorf("encoding the record: %d bytes are more than the %d a record may have", len(b), recordBytes)
	}
	return b, nil
}

// encodeRaw puts a record's own JSON into its envelope.
func encodeRaw(b []byte) ([]byte, error) {
	sum := sha256.Sum256(b)
	b, err := json.Marshal(envelope{runtime.RecordVersion, hex.EncodeToString(sum[:]), b})
	if err != nil {
		return nil, fmt.Errorf("encoding the record: %w", err)
	}
	return append(b, '\n'), nil
}

// decode reads a file that encode wrote, and nothing else: ErrNewer or ErrCorrupt.
func decode(b []byte) (runtime.Record, error) {
	r, _, err := decodeTurn(b)
	return r, err
}

func decodeTurn(b []byte) (runtime.Record, uint64, error) {
	corrupt := func(format string, args ...any) (runtime.Record, uint64, error) {
		return runtime.Record{}, 0, fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
	}
	var v struct {
		Version *int `json:"version"`
	}
	// The version comes first: what a newer one looks like beyond it cannot be known.
	if err := json.Unmarshal(b, &v); err != nil {
		return corrupt("%w", err)
	}
	switch {
	case v.Version == nil || *v.Version < 1:
		return corrupt("it has no version")
	case *v.Version > runtime.RecordVersion:
		return runtime.Record{}, 0, fmt.Errorf("%w: it is of version %d, this is %d", ErrNewer, *v.Version, runtime.RecordVersion)
	}
	var e envelope
	if err := strict(b, &e); err != nil {
		return corrupt("%w", err)
	}
	if sum := sha256.Sum256(e.Record); hex.EncodeToString(sum[:]) != e.SHA256 {
		return corrupt("its checksum is wrong")
	}
	var s stored
	if err := strict(e.Record, &s); err != nil {
		// Whole, and not of this version's fields.
		return runtime.Record{}, 0, fmt.Errorf("%w: %w", ErrNewer, err)
	}
	if s.Version != e.Version {
		return corrupt("it is of version %d inside", s.Version)
	}
	for _, p := range s.RawPaths {
		s.Token.Paths = append(s.Token.Paths, string(p))
	}
	return s.Record, s.Turn, nil
}

// spareName is the file that takes turns with a record.
func spareName(name string) string { return "." + name + ".spare" }

// strict decodes one JSON value with no unknown fields and nothing behind it.
func strict(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something stands behind it")
	}
	return nil
}
