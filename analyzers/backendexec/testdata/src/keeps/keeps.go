// Package keeps keeps functions for others.
package keeps

import "os/exec"

// Starters are kept in a collection.
var Starters = map[string]func(string){"x": func(n string) { exec.Command(n).Run() }}

var starters = map[string]func(string){}

func init() { starters["x"] = func(n string) { exec.Command(n).Run() } }

// Get gives one that was kept.
func Get(name string) func(string) { return starters[name] }

// Name is a name.
type Name string

func (n Name) String() string { return string(n) }
