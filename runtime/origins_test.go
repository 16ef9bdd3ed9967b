package runtime

import "testing"

func TestOriginsGiveEachWordItsOrigin(t *testing.T) {
	var o Origins
	o.From("a.yaml:1", "", "")
	o.Add("tool")
	o.From("a.yaml:2", "limits.processes", "launch.Limits.Processes")
	o.Add("--pids")
	o.Int(7).End()
	o.FromItem("a.yaml:3", "command", "launch.Argv", 4)
	o.Add("x")
	o.FromGate("a.yaml:4", "gate.block")
	o.Add("--block")
	o.FromRun("a.yaml:5", "run.name", "")
	o.Add("sbx-1")

	want := []Word{
		{Text: "tool", Spec: "a.yaml:1"},
		{Text: "--pids", Spec: "a.yaml:2", For: "limits.processes", Field: "launch.Limits.Processes"},
		{Text: "7", Spec: "a.yaml:2", For: "limits.processes", Field: "launch.Limits.Processes"},
		{Text: "x", Spec: "a.yaml:3", For: "command", Field: "launch.Argv[4]"},
		{Text: "--block", Spec: "a.yaml:4", For: "gate.block", Gate: true},
		{Text: "sbx-1", Spec: "a.yaml:5", For: "run.name", Run: true},
	}
	got := o.Explained()
	if len(got) != len(want) {
		t.Fatalf("got %d words, want %d: %+v", len(got), len(want), got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("word %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestOriginsReplacePrivateValues(t *testing.T) {
	private := Variable{Name: "TOKEN", Value: "hunter2", Origin: "launch"}
	public := Variable{Name: "HOME", Value: "/tmp", Public: true, Origin: "policy"}
	for name, tc := range map[string]struct {
		build func(*Origins)
		want  Word
	}{
		"a whole word": {func(o *Origins) { o.Value(private) }, Word{Text: `"${TOKEN?}"`, Private: true}},
		"the end of a word": {
			func(o *Origins) { o.Text("a b=").Text(""); o.Value(private) },
			Word{Text: `'a b='"${TOKEN?}"`, Private: true},
		},
		"a public value": {func(o *Origins) { o.Value(public) }, Word{Text: "/tmp"}},
		"a credential":   {func(o *Origins) { o.Secret("KEY") }, Word{Text: `"${KEY?}"`, Private: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var o Origins
			o.From("a.yaml:1", "environment", "f")
			tc.build(&o)
			tc.want.Spec, tc.want.For, tc.want.Field = "a.yaml:1", "environment", "f"
			got := o.Explained()
			if len(got) != 1 || got[0] != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}
