// Package standard says nothing.
package standard
