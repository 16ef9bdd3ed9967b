package a

func bad() int { return 0 }

func lines() {
	bad() // want `bad call \(toy\)`
	bad() //sbx:allow toy on the line
	//sbx:allow toy above the statement
	bad()
	//sbx:allow toy above a statement of
	// some lines, in a comment of two
	if bad() == 0 ||
		bad() == 1 {
		_ = 1
	}
	bad() // want `bad call`

	_ = []int{
		bad(), //sbx:allow toy on an element
		bad(), // want `bad call`
	}
	_ = []int{
		bad(), // want `bad call`
		//sbx:allow toy above an element
		bad(),
		bad(), // want `bad call`
	}
	_ = bad() +
		bad() //sbx:allow toy at the end of a statement of two lines
	_ = bad() //sbx:allow toy left of nothing
	bad()     //sbx:allow toy // want `bad call`
}

//sbx:allow toy the whole function
func declared() {
	bad()
	bad()
}

//sbx:allow toy the whole group
var (
	one = bad()
	two = bad()
)

var (
	//sbx:allow toy one specification
	three = bad()
	four  = bad() // want `bad call`
)

type s struct{ f func() int }

func literal() {
	//sbx:allow toy the statement with all that is in its literal
	f := func() int {
		return bad()
	}
	g := func() int {
		bad()        // want `bad call`
		return bad() //sbx:allow toy the statement inside the literal
	}
	_, _ = f, g
}

// Not these.
func others() {
	bad() /* sbx:allow toy no directive */ // want `bad call`
	bad() // sbx:allow toy no directive // want `bad call`
	bad() //sbx:allow other another rule // want `bad call`
	_ = 1 //sbx:allow toy idle
}
