//go:build unix && !linux

package journal

// swap is replace without a sync.
func swap(dir, name string, data []byte) error { return over(dir, name, data) }

// reserve does nothing: each replacement takes new room.
func reserve(string, string) error { return nil }

// keep is replace with a sync.
func keep(dir, name string, data []byte, _, _ bool) (bool, error) {
	err := replace(dir, name, data, true)
	return err == nil, err
}
