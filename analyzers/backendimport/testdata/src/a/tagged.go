//go:build sbxnever

package a

import _ "example.com/backend"
