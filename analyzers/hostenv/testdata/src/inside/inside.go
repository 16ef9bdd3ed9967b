// Package inside runs inside the sandbox.
//
//sbx:seam it wires them
//sbx:inside
package inside

import "os/exec"

func run() { exec.Command("/bin/true").Run() }
