// Package objects marks what it declares.
package objects

//sbx:launch
type Launch struct{ Argv []string } // want Launch:`launch`

//sbx:launch
type Generic[T any] struct{ v T } // want Generic:`launch`

//sbx:liveness
type Hook interface { // want Hook:`liveness`
	//sbx:liveness
	Alive() error // want Alive:`liveness`
}

type (
	//sbx:liveness
	Grouped func() // want Grouped:`liveness`
	Plain   func()
)

//sbx:launch
func Run(l Launch) {} // want Run:`launch`

//sbx:launch
//sbx:inside
func Both() {} // want Both:`launch inside`

//sbx:liveness
var Ready func() // want Ready:`liveness`

type Fields struct {
	//sbx:liveness
	Hook  func() // want Hook:`liveness`
	Other func()
}

func (Fields) plain() {}

//sbx:inside
func (Fields) Method() {} // want Method:`inside`
