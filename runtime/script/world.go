package script

// World is what exists outside the controller: the fake's engine. It outlasts every backend that uses it, so that a test can let a
// controller crash and reconcile with the next one. It is safe for concurrent use.
type World struct{}

// NewWorld makes an empty world.
func NewWorld() *World { return &World{} }
