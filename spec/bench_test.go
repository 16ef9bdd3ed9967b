package spec

import "testing"

func BenchmarkPrograms(b *testing.B) {
	for b.Loop() {
		if _, err := Programs(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoadDocker(b *testing.B) {
	for b.Loop() {
		if _, err := Builtin("docker"); err != nil {
			b.Fatal(err)
		}
	}
}
