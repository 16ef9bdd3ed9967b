package conformance

import (
	"testing"
	"time"

	"github.com/sbxkit/sbxkit/runtime/sbxtest"
)

// bubbled are the options for the fake, where a year takes no time.
var bubbled = sbxtest.Options{Bubble: true, Timeout: 365 * 24 * time.Hour}

func TestFake(t *testing.T) {
	t.Parallel()
	sbxtest.Run(t, Fake, bubbled)
}
