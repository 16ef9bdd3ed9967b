// Package noreason gives none, so it is no seam; and a directive below the package clause is none of the package.
//
//sbx:seam
package noreason

//sbx:backend
