// Package bare is a backend that has lost its directive.
package bare
