package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/sbxkit/sbxkit/runtime"
)

// readSeccomp reads the policy's filter of system calls, so that what is planned is its content and not a path alone.
func readSeccomp(r *runtime.Request, in runtime.PlanInput) error {
	file := r.Hardening.SeccompProfile
	if file == "" {
		return nil
	}
	fail := func(kind runtime.Kind, cure, format string, args ...any) error {
		return runtime.Fail(kind, format, args...).About("hardening.seccomp-profile").WithCure("%s", cure)
	}
	switch {
	case !filepath.IsAbs(file):
		return fail(runtime.Denied, "name the file by its absolute path", "the seccomp profile %q is no absolute path", file)
	case in.Identity.Engine == podmanEngine && in.Identity.Remote:
		return fail(runtime.Unsupported, "use an engine of this host, or Docker", "Podman reads a seccomp profile on its own host, and is not on this one")
	case in.Host == nil:
		return fail(runtime.Setup, "plan with a view of the host", "the seccomp profile %s cannot be read", file)
	}
	text, err := in.Host.ReadFile(file)
	if err != nil {
		return fail(runtime.Setup, "put the file there, or leave it out of the policy", "reading the seccomp profile: %w", err)
	}
	var filter map[string]json.RawMessage
	if err := json.Unmarshal(text, &filter); err != nil || filter["defaultAction"] == nil {
		return fail(runtime.Setup, "see docs.docker.com/engine/security/seccomp for the form", "the seccomp profile %s is not a filter in the engines' form", file)
	}
	r.SeccompText = compact(text)
	return nil
}

// compact writes JSON as Docker's program does, without spaces.
func compact(text []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return text
	}
	return b.Bytes()
}

// seccompOption is the option of a create request for the policy's filter: Podman's API takes the path, as its program does, and Docker's the
// content (measured on 4.3.1 and 20.10).
func seccompOption(r *runtime.Request, engine string) string {
	if engine == podmanEngine {
		return "seccomp=" + r.Hardening.SeccompProfile
	}
	return "seccomp=" + string(r.SeccompText)
}

// seccompClaim has the content's digest, so that a plan's is another where the file is.
func seccompClaim(r *runtime.Request) string {
	sum := sha256.Sum256(r.SeccompText)
	return r.Hardening.SeccompProfile + ", sha256:" + hex.EncodeToString(sum[:])
}

// seccompRecord holds where the engine has the planned filter. Of Podman's the record is a path; what stands there is what was planned if it
// still is.
func seccompRecord(r record) (bool, string) {
	if !slices.Contains(r.host.SecurityOpt, seccompOption(r.plan.Request, r.plan.Identity.Engine)) {
		return false, "SecurityOpt has another filter, or none"
	}
	return true, "SecurityOpt has the planned filter"
}
