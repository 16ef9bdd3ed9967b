// Package runtime is the seam executors of untrusted commands launch through. Executors import it as sbx:
//
//	import sbx "github.com/sbxkit/sbxkit/runtime"
//
// A Launch says what is wanted, in words no backend owns. A Sandbox, the only lifecycle driver, plans it with a Backend (a
// pure step: a Plan can be printed, compared and refused before anything happens), walks the nine steps of the lifecycle
// (probe, prepare, stage, start, capture, export, import, remove, reconcile), and hands back a Run. A Run ends in exactly one
// Result, whose Outcome carries its evidence; whatever could not be done is a Failure with a Kind, a Step and a cure.
//
// Nothing here falls back to an unsandboxed run by itself. An answer that is not known is Uncertain, never success.
//
//sbx:seam the seam itself
package runtime
