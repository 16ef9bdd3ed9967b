package runtime

import (
	"io/fs"
	"math"
	"net/netip"
	"testing"
	"time"
)

func TestSecondsRoundUp(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		0: 0, time.Nanosecond: 1, time.Second: 1, 1500 * time.Millisecond: 2, time.Hour: 3600, -time.Millisecond: 0,
	} {
		if got := Seconds(d); got != want {
			t.Errorf("Seconds(%v) = %d, want %d", d, got, want)
		}
	}
}

func TestSignedSaturates(t *testing.T) {
	for n, want := range map[uint64]int64{0: 0, 7: 7, math.MaxInt64: math.MaxInt64, 1 << 63: math.MaxInt64, math.MaxUint64: math.MaxInt64} {
		if got := Signed(n); got != want {
			t.Errorf("Signed(%d) = %d, want %d", n, got, want)
		}
	}
}

func TestSwapTotalSaturates(t *testing.T) {
	for name, tc := range map[string]struct {
		limits Limits
		want   uint64
	}{
		"both":      {Limits{Memory: AtMost(5), Swap: AtMost(7)}, 12},
		"no memory": {Limits{Swap: AtMost(7)}, 7},
		"no swap":   {Limits{Memory: AtMost(5), Swap: AtMost(0)}, 5},
		"too much":  {Limits{Memory: AtMost(math.MaxUint64), Swap: AtMost(1)}, math.MaxUint64},
	} {
		if got := tc.limits.SwapTotal(); got != tc.want {
			t.Errorf("%s: got %d, want %d", name, got, tc.want)
		}
	}
}

func TestWordsComposeWithoutSharing(t *testing.T) {
	var w Words
	w.Grow(1, 1) // too little on purpose: growing must not disturb the words before
	w.Text("--size=").Int(-5).End()
	w.Text("mode=").Octal(0o755).End()
	w.Text("cpus=").Decimal(1_500_000_000, 1e9).End()
	w.CSV("", "type=bind").CSV("source=", `a,"b"`).CSV("size=", "").Uint(9).End()
	w.Bytes([]byte("x")).End()
	w.Text("dns=").Address(netip.MustParseAddr("fe80::1%eth0")).End()
	if taken := w.Text("a").Int(1).Take(); taken != "a1" {
		t.Errorf("Take gave %q", taken)
	}
	w.Add("last")
	want := []string{"--size=-5", "mode=0755", "cpus=1.5", `type=bind,"source=a,""b""",size=9`, "x", "dns=fe80::1%eth0", "last"}
	got := w.List()
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("word %d: got %q, want %q", i, got[i], want[i])
		}
	}
}

func TestPermissionKeepsTheStickyBit(t *testing.T) {
	for mode, want := range map[fs.FileMode]uint32{
		0: 0, 0o755: 0o755, 0o1777: 0o1777, fs.ModeSticky | 0o777: 0o1777, fs.ModeSetuid | fs.ModeSetgid | 0o755: 0o6755,
	} {
		if got := (&Mount{Mode: mode}).Permission(); got != want {
			t.Errorf("mode %v: got %o, want %o", mode, got, want)
		}
	}
}
