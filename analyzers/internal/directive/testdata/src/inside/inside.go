// Package inside runs there. // want package:`inside`
//
//sbx:inside
package inside
