package journal

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/sbxkit/sbxkit/runtime"
)

func anyRecord() *rapid.Generator[runtime.Record] {
	return rapid.Custom(func(t *rapid.T) runtime.Record {
		text := rapid.String()
		texts := func(name string) []string {
			l := rapid.SliceOfN(text, 0, 4).Draw(t, name)
			if len(l) == 0 {
				return nil
			}
			return l
		}
		r := runtime.Record{
			Version: runtime.RecordVersion,
			Run:     runtime.RunName{ID: text.Draw(t, "id"), Owner: text.Draw(t, "owner")},
			Backend: text.Draw(t, "backend"), Step: rapid.SampledFrom(runtime.Steps()).Draw(t, "step"), Done: rapid.Bool().Draw(t, "done"),
			PlanDigest: text.Draw(t, "digest"), BootID: text.Draw(t, "boot"),
			Created: rapid.Int64().Draw(t, "created"), Updated: rapid.Int64().Draw(t, "updated"), Charged: rapid.Bool().Draw(t, "charged"),
			Outcome: runtime.Outcome(text.Draw(t, "outcome")), Code: rapid.Int().Draw(t, "code"),
			Token: runtime.Token{
				Name: text.Draw(t, "name"), Endpoint: text.Draw(t, "endpoint"), Volumes: texts("volumes"), Networks: texts("networks"), Cgroups: texts("cgroups"),
			},
		}
		for _, p := range rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 0, 4).Draw(t, "paths") {
			r.Token.Paths = append(r.Token.Paths, string(p))
		}
		for _, n := range rapid.SliceOfN(rapid.IntRange(1, 1<<22), 0, 4).Draw(t, "pids") {
			r.Token.Processes = append(r.Token.Processes, runtime.ProcessIdentity{PID: n, StartTime: rapid.Uint64().Draw(t, "start")})
		}
		for _, n := range texts("labels") {
			r.Labels = append(r.Labels, runtime.Label{Name: n, Value: text.Draw(t, "label")})
		}
		return r
	})
}

func TestAnyRecordComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyRecord().Draw(t, "record")
		b, err := encode(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(b)
		if err != nil {
			t.Fatalf("%v, of %s", err, b)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got\n%+v\nwant\n%+v", got, want)
		}
	})
}

func TestAnyDamageIsFound(t *testing.T) {
	whole, err := encode(runtime.Record{Run: runtime.RunName{ID: "a"}, Backend: "fake", Step: runtime.StepStart, Token: runtime.Token{Paths: []string{"/x"}}})
	if err != nil {
		t.Fatal(err)
	}
	want, err := decode(whole)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		b := bytes.Clone(whole)
		switch rapid.IntRange(0, 2).Draw(t, "damage") {
		case 0:
			b = b[:rapid.IntRange(0, len(b)-2).Draw(t, "cut")]
		case 1:
			i := rapid.IntRange(0, len(b)-1).Draw(t, "at")
			b[i] ^= byte(rapid.IntRange(1, 255).Draw(t, "flip"))
		case 2:
			i := rapid.IntRange(0, len(b)).Draw(t, "at")
			b = append(append(bytes.Clone(b[:i]), rapid.SliceOfN(rapid.Byte(), 1, 8).Draw(t, "insert")...), whole[i:]...)
		}
		got, err := decode(b)
		switch {
		case err == nil && !reflect.DeepEqual(got, want):
			t.Fatalf("%q was read as %+v", b, got)
		case err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNewer):
			t.Fatalf("%q gave %v, of neither kind", b, err)
		}
	})
}

func TestAFieldOfALaterVersionIsNotIgnored(t *testing.T) {
	b, err := encodeRaw([]byte(`{"version":1,"run":{"id":"a"},"new_field":true}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decode(b); !errors.Is(err, ErrNewer) {
		t.Errorf("decode: %v, want ErrNewer", err)
	}
}

func FuzzDecode(f *testing.F) {
	whole, err := encode(runtime.Record{Run: runtime.RunName{ID: "a"}, Backend: "fake", Step: runtime.StepStart})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`{"version":1,"sha256":"","record":null}`))
	f.Add([]byte(`{"version":1e400}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decode(b)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNewer) {
				t.Fatalf("%v is of neither kind", err)
			}
			return
		}
		again, err := encode(r)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decode(again)
		if err != nil {
			t.Fatal(err)
		}
		if r.Run.Dir, r.Token.Run.Dir = "", ""; !reflect.DeepEqual(r, back) {
			t.Fatalf("%+v became %+v", r, back)
		}
	})
}

// FuzzDecodeRecord fuzzes what stands behind a right checksum.
func FuzzDecodeRecord(f *testing.F) {
	f.Add([]byte(`{"version":1,"run":{"id":"a"},"token":{"paths":["x"]},"raw_paths":["eA=="]}`))
	f.Add([]byte(`{"version":1,"failure":{"a":1}}`))
	f.Add([]byte(`{"version":1,"labels":[null]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, err := encodeRaw(b)
		if err != nil {
			return
		}
		if _, err := decode(whole); err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNewer) {
			t.Fatalf("%v is of neither kind", err)
		}
	})
}
