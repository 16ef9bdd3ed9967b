package runtime

// SupportsGeneratedCode1 is the proof that this package has what generated code of generation 1 needs. Every generated package refers to
// the newest such name of its generator: one that is newer than the runtime in use does not compile, and the name that is undefined
// says why. Update the module github.com/sbxkit/sbxkit then, or generate with the version of sbxgen that the module has.
//
// A change of what generated code calls adds a name; a name is removed when such code is no longer supported.
const SupportsGeneratedCode1 = true
