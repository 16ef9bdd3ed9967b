// Package primitives is a primitives room.
//
//sbx:primitives
package primitives

// Spawn is a primitive.
func Spawn() {}
