package spec

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// inMemory reads from a map of files.
func inMemory(files map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, fmt.Errorf("open %s: %w", name, fs.ErrNotExist)
	}
}

func TestExtendsCircleOfTwoIsAnError(t *testing.T) {
	_, diagnostics := Load("a/one.yaml", inMemory(map[string]string{
		"a/one.yaml": "sbx: 1\nbackend: one\nextends: ../b/two.yaml\n",
		"b/two.yaml": "sbx: 1\nbackend: two\nextends: ../a/one.yaml\n",
	}))
	want := "b/two.yaml:3:10: extends goes in a circle: a/one.yaml → b/two.yaml → a/one.yaml"
	if got, _, _ := strings.Cut(diagnostics.Error(), "\n"); got != want || len(diagnostics) != 1 {
		t.Errorf("got %s, want %s", diagnostics, want)
	}
}

func TestSpecNamedAsTheBuiltinItExtendsIsNoCircle(t *testing.T) {
	b, diagnostics := Load("bwrap.yaml", inMemory(map[string]string{
		"bwrap.yaml": "sbx: 1\nbackend: mine\nextends: bwrap\npolicy:\n  mounts:\n    - {tmpfs: /tmp, size: 1MiB}\n",
	}))
	if len(diagnostics) > 0 {
		t.Fatal(diagnostics)
	}
	if b.Name != "mine" || len(b.Extends) != 1 || b.Extends[0] != "bwrap.yaml" {
		t.Errorf("got %q extending %q", b.Name, b.Extends)
	}
}

func TestExtendsGoesOverTenLevelsAndNoMore(t *testing.T) {
	files := map[string]string{"0.yaml": "sbx: 1\nbackend: level\nextends: bwrap\n"}
	for i := 1; i <= maxExtends; i++ {
		files[fmt.Sprintf("%d.yaml", i)] = fmt.Sprintf("sbx: 1\nbackend: level\nextends: %d.yaml\n", i-1)
	}
	if _, diagnostics := Load(fmt.Sprintf("%d.yaml", maxExtends-1), inMemory(files)); len(diagnostics) > 0 {
		t.Error(diagnostics)
	}
	_, diagnostics := Load(fmt.Sprintf("%d.yaml", maxExtends), inMemory(files))
	want := "0.yaml:3:10: extends goes over more than 10 levels"
	if got, _, _ := strings.Cut(diagnostics.Error(), "\n"); got != want || len(diagnostics) != 1 {
		t.Errorf("got %s, want %s", diagnostics, want)
	}
}

func TestFaultsOfABaseAreReportedAtTheBase(t *testing.T) {
	_, diagnostics := Load("own.yaml", inMemory(map[string]string{
		"own.yaml":  "sbx: 1\nbackend: own\nextends: base.yaml\nwibble: 1\n",
		"base.yaml": "sbx: 1\nbackend: base\nextends: bwrap\npolicy: {limits: {opn-files: 1}}\n",
	}))
	want := []string{"base.yaml:4:19", "own.yaml:4:1"}
	for i, d := range diagnostics {
		if i >= len(want) || d.Pos.String() != want[i] {
			t.Errorf("unexpected %s", d)
		}
	}
	if len(diagnostics) != len(want) {
		t.Errorf("%d diagnostics, want %d", len(diagnostics), len(want))
	}
}

func TestExtendingKeepsTheBase(t *testing.T) {
	base, err := Builtin("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	b, diagnostics := Load("good/small.yaml", readFixture)
	if len(diagnostics) > 0 {
		t.Fatal(diagnostics)
	}
	if b.Name != "agent" || b.Kind != KindProcess || b.Program.Name != "bwrap" {
		t.Errorf("got %s, %s, %v", b.Name, b.Kind, b.Program)
	}
	if len(b.Words) != len(base.Words) || len(b.Policy.Mounts) != len(base.Policy.Mounts) || len(b.Lifecycle.Stop) != 2 {
		t.Errorf("something of the base is lost: %d words, %d mounts", len(b.Words), len(b.Policy.Mounts))
	}
	limits := map[string]string{}
	for _, l := range b.Policy.Limits {
		limits[l.Name] = l.words()
	}
	if limits["limits.open-files"] != "512" || limits["limits.memory"] != "1GiB" || limits["limits.core"] != "0" {
		t.Errorf("limits are %v", limits)
	}
	again, err := Builtin("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Policy.Limits) != len(base.Policy.Limits) {
		t.Error("loading an extending spec changed its base")
	}
}

func TestMovingAFeatureToUnsupportedDropsItsWords(t *testing.T) {
	b, diagnostics := Load("own.yaml", inMemory(map[string]string{"own.yaml": `sbx: 1
backend: own
extends: bwrap
dialect:
  unsupported:
    hostname: nobody needs one
    mount.device: no devices
    network.egress: no proxy here
policy:
  network: {accept: [none]}
`}))
	if len(diagnostics) > 0 {
		t.Fatal(diagnostics)
	}
	for _, e := range b.Words {
		for _, name := range spelledBy(e) {
			if name == "hostname" || name == "mount.device" || name == "network.egress" {
				t.Errorf("%s is still spelled by %s", name, e.Pos)
			}
		}
	}
	for name, how := range map[string]How{"hostname": HowUnsupported, "mount.device": HowUnsupported, "network.none": HowSpelled} {
		if f, _ := b.Feature(name); f.How != how {
			t.Errorf("%s is %s, want %s", name, f.How, how)
		}
	}
}

func TestReasonsAreCarried(t *testing.T) {
	b, diagnostics := Load("good/widened.yaml", readFixture)
	if len(diagnostics) > 0 {
		t.Fatal(diagnostics)
	}
	reasons := map[string]string{}
	for _, r := range b.Because {
		reasons[r.What] = r.Text
	}
	for what, text := range map[string]string{
		"policy.environment":               "builds go through the office's proxy",
		"policy.limits.open-files":         "the linker opens every object file",
		"policy.hardening.read-only-root":  "the packages of the image write to /usr/local",
		"policy.mounts: bind-rw /cache":    "one build cache for all runs",
		"policy.sockets: /run/mirror.sock": "the mirror listens there",
	} {
		if reasons[what] != text {
			t.Errorf("the reason of %s is %q, want %q", what, reasons[what], text)
		}
	}
}

func TestDigestIsOfTheWholeChain(t *testing.T) {
	files := map[string]string{
		"own.yaml":  "sbx: 1\nbackend: own\nextends: base.yaml\n",
		"base.yaml": "sbx: 1\nbackend: base\nextends: bwrap\n",
	}
	load := func() string {
		b, diagnostics := Load("own.yaml", inMemory(files))
		if len(diagnostics) > 0 {
			t.Fatal(diagnostics)
		}
		return b.Digest
	}
	before := load()
	if again := load(); again != before {
		t.Errorf("the same files give %s and %s", before, again)
	}
	files["base.yaml"] += "# changed\n"
	if after := load(); after == before {
		t.Error("a change of the base does not change the digest")
	}
}

func TestAnExtendingSpecSpellsSomeMountsOtherwise(t *testing.T) {
	files := map[string]string{"own.yaml": `sbx: 1
backend: own
extends: docker
dialect:
  because: another tool
  spell:
    mask-dir: {flag: --cover, args: [target], api: {path: HostConfig.Tmpfs, key: target, value: {text: ro}}}
`}
	b, diagnostics := Load("own.yaml", inMemory(files))
	if len(diagnostics) > 0 {
		t.Fatal(diagnostics)
	}
	base, _ := Builtin("docker")
	if len(b.Words) != len(base.Words) {
		t.Errorf("%d words, the base has %d", len(b.Words), len(base.Words))
	}
	for i, e := range b.Words {
		if e.Each == "" {
			continue
		}
		for j, s := range e.Spell {
			if own := s.Name == "mount.mask-dir"; own != (s.Pos.File == "own.yaml") || s.Name != base.Words[i].Spell[j].Name {
				t.Errorf("%s is spelled by %s", s.Name, s.Pos)
			}
		}
	}
	if f, _ := b.Feature("mount.mask-dir"); len(f.Flags) != 1 || f.Flags[0].Name != "--cover" {
		t.Errorf("flags of mount.mask-dir: %+v", f.Flags)
	}
}
