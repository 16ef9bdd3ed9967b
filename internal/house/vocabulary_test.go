package house

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sbxkit/sbxkit/runtime"
	"github.com/sbxkit/sbxkit/spec"
)

// TestTheVocabularyIsTheLaunch keeps the closed list of the spec language equal to what a launch can ask for: a field nobody can spell, or
// a name nobody can ask for, is an omission that would be dropped in silence.
func TestTheVocabularyIsTheLaunch(t *testing.T) {
	var asked []string
	for _, term := range spec.Vocabulary() {
		if term.Field != "" {
			asked = append(asked, term.Name)
		}
	}
	if diff := cmp.Diff(runtime.Vocabulary(), asked); diff != "" {
		t.Errorf("runtime.Launch (-) and the vocabulary (+) differ:\n%s", diff)
	}
}
