// Package noreason does not say why, so it is no seam.
//
//sbx:seam
package noreason

import _ "example.com/backend" // want `import of sandbox backend`
