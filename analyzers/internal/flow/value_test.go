package flow

import (
	"fmt"
	"strings"
	"testing"
)

func words(list ...string) Value {
	var elems []Value
	for _, w := range list {
		elems = append(elems, str(w, 0))
	}
	return listOf(elems...)
}

func param(n int64, path ...string) Value { return Value{{Kind: Param, N: n, Path: path}} }

func equal(t *testing.T, what string, got Value, want string) {
	t.Helper()
	if got.String() != want {
		t.Errorf("%s is %s, want %s", what, got, want)
	}
}

func TestJoinIsAUnion(t *testing.T) {
	a, b := str("a", 0), str("b", 0)
	equal(t, "the union", join(b, a, b), `s"a"|s"b"`)
	equal(t, "nothing", join(), "")
	equal(t, "one", join(nil, a, nil), `s"a"`)
	if x, y := join(a, unknown(), b), join(b, join(unknown(), a)); x.String() != y.String() {
		t.Errorf("the order matters: %s, %s", x, y)
	}
	var many []Value
	for i := range maxAlts + 10 {
		many = append(many, str(fmt.Sprint(i), 0))
	}
	if v := join(many...); len(v) != maxAlts+1 || !v.Has(Unknown) {
		t.Errorf("what is cut is not said: %d alternatives", len(v))
	}
	many = nil
	for i := range maxWide + 3 {
		many = append(many, Value{{Kind: Param, N: int64(i)}})
	}
	if v := join(many...); !v.Has(Unknown) {
		t.Errorf("what is cut is not said: %d alternatives", len(v))
	}
}

func TestLists(t *testing.T) {
	list := words("a", "b", "c")
	equal(t, "the second", list.Index(1), `s"b"`)
	equal(t, "one behind the end", list.Index(9), "")
	equal(t, "any", list.Element(), `s"a"|s"b"|s"c"`)
	equal(t, "the rest", list.From(1), `l(s"b",s"c",)`)
	equal(t, "more than there is", list.From(9), "l")
	equal(t, "the start", list.Until(2), `l(s"a",s"b",)`)
	equal(t, "too long a start", list.Until(9), "?")

	equal(t, "a list in a list's place", listOf(str("x", 0), spliceOf(list)), `l(s"x",s"a",s"b",s"c",)`)
	equal(t, "two ways", listOf(spliceOf(join(words("a"), words("b"))), str("x", 0)), `l(s"a",s"x",)|l(s"b",s"x",)`)
	equal(t, "no list", listOf(str("x", 0), spliceOf(Value{{Kind: Nil}})), `l(s"x",)`)

	open := listOf(str("sh", 0), spliceOf(param(1)))
	equal(t, "a word of a parameter", open.Index(2), "P1[1]")
	equal(t, "the words of a parameter", open.From(2), "l(p(P1[1:],),)")
	grown := listOf(str("sh", 0), spliceOf(manyOf(str("-c", 0))), str("x", 0))
	equal(t, "a word that may be one of many or behind them", grown.Index(1), `s"-c"|s"x"`)

	long := make([]string, maxElems+5)
	v := words(long...)
	if n := len(v[0].Elems); n != maxElems+1 {
		t.Errorf("a long list has %d elements", n)
	}
	if _, ok := v[0].Elems[maxElems].splice(); !ok {
		t.Error("that a list goes on is not said")
	}
}

func TestMapsAndStructs(t *testing.T) {
	m := Value{{Kind: Map, Names: []string{"a"}, Elems: []Value{str("x", 0)}, Base: []Value{str("rest", 0)}}}
	equal(t, "a key", m.Key("a"), `s"rest"|s"x"`)
	equal(t, "another key", m.Key("b"), `s"rest"`)
	equal(t, "any", m.Element(), `s"rest"|s"x"`)

	s := setField(Value{{Kind: Struct, Text: "T"}}, "F", str("x", 0))
	equal(t, "a field", s.Field("F"), `s"x"`)
	equal(t, "another field", s.Field("G"), "")
	equal(t, "a field of a parameter", param(0).Field("F").Field("G"), "P.F.G")
	equal(t, "a field of a parameter, set", setField(param(0), "F", str("x", 0)).Field("F"), `s"x"|P.F`)
	equal(t, "another of it", setField(param(0), "F", str("x", 0)).Field("G"), "P.G")
	equal(t, "a field of anything", unknown().Field("F"), "?")

	deep := param(0)
	for range maxDepth + 1 {
		deep = deep.Field("F")
	}
	equal(t, "a field too far away", deep, "?")
}

func TestConcat(t *testing.T) {
	equal(t, "constants", concat(str("a", 0), str("b", 0)), `s"ab"`)
	equal(t, "each with each", concat(join(str("a", 0), str("b", 0)), str("x", 0)), `s"ax"|s"bx"`)
	v := concat(concat(param(0), str("/", 0)), str("docker", 0))
	equal(t, "an end", v, `C(P,s"/docker",)`)
	if name, ok := v[0].BaseName(); !ok || name != "docker" {
		t.Errorf("base name is %q, %v", name, ok)
	}
	if name, ok := concat(param(0), str("docker", 0))[0].BaseName(); ok {
		t.Errorf("an end that is no whole element has the base name %q", name)
	}
}

func TestBaseName(t *testing.T) {
	for text, want := range map[string]string{
		"docker": "docker", "/usr/bin/docker": "docker", `C:\\bin\\docker.exe`: "docker", "docker.EXE": "docker", "./x/docker": "docker", ".exe": ".exe", "docker/": "docker",
	} {
		if got, ok := (Alt{Kind: Str, Text: text}).BaseName(); !ok || got != want {
			t.Errorf("%q: %q, %v", text, got, ok)
		}
	}
	if _, ok := (Alt{Kind: Int}).BaseName(); ok {
		t.Error("a number has a base name")
	}
}

func TestSubstitute(t *testing.T) {
	args := []Value{words("sh", "-c"), setField(Value{{Kind: Struct}}, "Bin", str("docker", 0))}
	free := []Value{str("captured", 0)}
	equal(t, "an element", substitute(param(0, "[1]"), args, free), `s"-c"`)
	equal(t, "the rest", substitute(param(0, "[1:]"), args, free), `l(s"-c",)`)
	equal(t, "any element", substitute(param(0, "[]"), args, free), `s"-c"|s"sh"`)
	equal(t, "a field", substitute(param(1, ".Bin"), args, free), `s"docker"`)
	equal(t, "a free variable", substitute(param(FreeVar), args, free), `s"captured"`)
	equal(t, "no such argument", substitute(param(7), args, free), "?")
	equal(t, "inside a list", substitute(listOf(str("env", 0), spliceOf(param(0))), args, free), `l(s"env",s"sh",s"-c",)`)
	equal(t, "a closed value", substitute(str("x", 0), nil, nil), `s"x"`)
	if closed(listOf(param(0))).Open() {
		t.Error("a closed value is open")
	}
}

func TestUnloop(t *testing.T) {
	self := Value{{Kind: loop, N: 3}}
	grows := join(words("sh"), listOf(spliceOf(self), str("-x", 0)))
	v := unloop(grows, 3)
	if mentionsLoop(v, 3) {
		t.Errorf("it still mentions itself: %s", v)
	}
	if got := v.Index(0).String(); got != `s"sh"` {
		t.Errorf("the start is %s", got)
	}
	if got := v.Index(1).String(); got != `s"-x"` {
		t.Errorf("what grows is %s", got)
	}
	equal(t, "itself alone", unloop(self, 3), "")
	equal(t, "another's", unloop(Value{{Kind: loop, N: 4}}, 3), "o4")
	equal(t, "a string that grows", unloop(join(str("a", 0), concat(self, str("b", 0))), 3), `?|s"a"`)
}

func TestBoundKeepsTheOuterParts(t *testing.T) {
	v := str("x", 0)
	for range maxDepth + 5 {
		v = Value{{Kind: List, Elems: []Value{v}}}
	}
	v = bound(v)
	if d, _ := v.measure(); d > maxDepth+1 {
		t.Errorf("it is %d deep", d)
	}
	wide := make([]Value, maxElems)
	for i := range wide {
		var alts []Value
		for k := range 20 {
			alts = append(alts, str(fmt.Sprint(i, k), 0))
		}
		wide[i] = join(alts...)
	}
	if _, n := bound(listOf(wide...)).measure(); n > maxNodes+maxAlts {
		t.Errorf("it has %d parts", n)
	}
}

func TestSplitWords(t *testing.T) {
	equal(t, "a constant", splitWords(str(" sh  -c x", 0), strings.Fields), `l(s"sh",s"-c",s"x",)`)
	equal(t, "a constant start", splitWords(concat(str("sh -c e", 0), param(0)), strings.Fields), `l(s"sh",s"-c",p(?,),)`)
	equal(t, "anything", splitWords(param(0), strings.Fields), "l(p(?,),)")
	if got := strings.Join(windowsWords(`"C:\\a b\\sh.exe"  -c "x y" ""`), "|"); got != `C:\\a b\\sh.exe|-c|x y|` {
		t.Errorf("words are %s", got)
	}
}

func TestInterestingWord(t *testing.T) {
	for word, want := range map[string]bool{
		"docker": true, "/usr/bin/podman": true, "sh": true, "-c": true, "sudo docker": true, "bash -c ls": true, "make": false, "": false, "hello world": false,
		"docker" + strings.Repeat("x", 300): false,
	} {
		if got := InterestingWord(word); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
}

func TestMayMatter(t *testing.T) {
	for text, want := range map[string]bool{
		"package x": false, "package x\nimport \"os/exec\"": true, "package x\n//sbx:seam y": true, "var a = \"docker\"": true, "var a = \"/bin/sh\"": true,
		"x.Stdin()": true, "// ash, fish and chips": false,
	} {
		if got := MayMatter([][]byte{[]byte("package y"), []byte(text)}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestTidySinks(t *testing.T) {
	far := Sink{Kind: Start, What: "exec.Command", Vals: []Value{param(0)}, Via: []Step{{Name: "a"}, {Name: "b"}}}
	near := Sink{Kind: Start, What: "exec.Command", Vals: []Value{param(0)}, Via: []Step{{Name: "c"}}}
	got := tidySinks([]Sink{far, near, {Kind: Call, Vals: []Value{param(1)}}})
	if len(got) != 2 || got[0].Kind != Start || len(got[0].Via) != 1 || got[1].Kind != Call {
		t.Errorf("got %+v", got)
	}
	var many []Sink
	for i := range maxSinks + 9 {
		many = append(many, Sink{Kind: Start, What: fmt.Sprint(i), Vals: []Value{param(0)}})
	}
	if n := len(tidySinks(many)); n != maxSinks {
		t.Errorf("%d sinks", n)
	}
	if n := len(tidyEffects([]Effect{{Kind: "k", What: "w", Via: []Step{{}}}, {Kind: "k", What: "w"}, {Kind: "k", What: "v"}})); n != 2 {
		t.Errorf("%d effects", n)
	}
}

func TestShortWhat(t *testing.T) {
	for full, want := range map[string]string{
		"os/exec.Command": "exec.Command", "(*os/exec.Cmd).Run": "(*exec.Cmd).Run", "example.com/m/v2.F": "v2.F", "main.f": "main.f",
	} {
		if got := ShortWhat(full); got != want {
			t.Errorf("%s: %s", full, got)
		}
	}
}

func TestPathsDoNotGoRound(t *testing.T) {
	v := param(0)
	for range 2 {
		v = v.Field("next")
	}
	equal(t, "two nodes of a list", v, "P.next.next")
	equal(t, "the third", v.Field("next"), "?")
	equal(t, "a field of the second", v.Field("name"), "P.next.next.name")
	equal(t, "elements of elements", param(0).Element().Element().Element(), "P[][][]")
}

func TestStreamsAreAllThatIsKeptOfAStore(t *testing.T) {
	stdin := Value{{Kind: Tag, Text: StdinTag}}
	deep := param(1)
	for _, f := range []string{"a", "b", "c", "d"} {
		deep = deep.Field(f)
	}
	equal(t, "stdin beside another", streamsIn(join(stdin, str("x", 0), unknown())), stdin.String())
	equal(t, "a parameter, and a list with one", streamsIn(join(param(0), listOf(str("x", 0), param(2)))), "P|P2")
	equal(t, "stdin in a list", streamsIn(listOf(stdin)), listOf(stdin).String())
	equal(t, "far from a parameter", streamsIn(deep), "")
	equal(t, "a function that took one along", streamsIn(Value{{Kind: Func, Text: "f", Elems: []Value{param(0)}}}), "P")
}

func TestEqualAlternativesAreOne(t *testing.T) {
	list := func() Value { return listOf(str("sh", 3), spliceOf(param(1, ".args"))) }
	if v := join(list(), str("x", 0), list()); len(v) != 2 {
		t.Errorf("the union has %d alternatives: %s", len(v), v)
	}
	for _, other := range []Value{listOf(str("sh", 0)), listOf(str("sh", 0), spliceOf(param(1, ".argv"))), listOf(str("sh", 0), spliceOf(param(2, ".args")))} {
		if v := join(list(), other); len(v) != 2 {
			t.Errorf("%s and %s are taken for one", list(), other)
		}
	}
	for _, order := range [][]Value{{param(0), str("b", 0), str("a", 0), unknown()}, {unknown(), str("a", 0), str("b", 0), param(0)}} {
		equal(t, "a union in order", join(order...), `?|s"a"|s"b"|P`)
	}
}
