package fields

import "os/exec"

// A machine whose states are functions in a field, and whose text grows with each: what it starts without knowing the program, in ever more ways, does
// not push out what it starts of its own.
type step func(*walker, string) bool

type walker struct {
	bin string
	at  step
}

func first(w *walker, s string) bool {
	switch s {
	case "again":
		w.at = first
	case "program":
		exec.Command(w.bin, s).Run()
	}
	return w.at(w, s+"x")
}

func walk() { first(&walker{bin: "docker"}, "program") } // want `program "docker" outside the seam \(first → exec.Command\)`
