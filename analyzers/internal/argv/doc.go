// Package argv reads argument lists as far as they are known: which programs a list runs, also behind prefixes such as env and sudo,
// and whether one of them is an interpreter that is handed its program as text.
package argv
