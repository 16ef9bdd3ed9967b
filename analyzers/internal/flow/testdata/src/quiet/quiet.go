// Package quiet starts nothing.
package quiet

import "fmt"

func f() { fmt.Println("docker", []string{"sh", "-c"}) }
