package runtime

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// DigestManifest is the digest of an export: "sha256:" and 64 hexadecimal digits over its entries in the order given. Every
// field counts, each text with its length before it, so that two different lists never give the same bytes whatever bytes a name has.
func DigestManifest(files []ManifestEntry) string {
	h := sha256.New()
	var buf []byte
	for _, f := range files {
		buf = buf[:0]
		for _, text := range []string{f.Path, f.Digest, f.Link} {
			buf = binary.AppendUvarint(buf, uint64(len(text)))
			buf = append(buf, text...)
		}
		buf = binary.AppendUvarint(buf, uint64(f.Mode))
		buf = binary.AppendUvarint(buf, uint64(f.Size))
		h.Write(buf)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
