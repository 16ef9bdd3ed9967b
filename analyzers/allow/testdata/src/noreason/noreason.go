// Package noreason is no seam.
//
//sbx:seam // want `//sbx:seam needs a reason`
package noreason
