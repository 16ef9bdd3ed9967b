// Package hostenv defines an analyzer that keeps the host's environment out of sandboxes.
//
// # Analyzer hostenv
//
// hostenv: report the host's environment on its way into a sandbox
//
// The environment of a program holds the tokens of its user, the addresses of his agents and sockets, and names of proxies. Handed on as
// a whole, all of it is in the sandbox, whether anyone thought of it or not; a nil Env of exec.Cmd hands it on without a word.
//
// Reported are os.Environ and Cmd.Environ, and lists and maps made from them, that reach a launch or a command started in a seam or
// backend package; there also a command with no Env, or one that is set only on some paths; and os.Getenv of a name that looks like a
// credential (TOKEN, SECRET, PASSWORD, API_KEY and their kin) put in the environment instead of in Credentials.
//
// Bad:
//
//	cmd := exec.Command("bwrap", args...)
//	cmd.Run()                                    // Env is nil: everything is handed on
//	sbx.Launch{Env: sbx.Environment{Set: map[string]string{"GITHUB_TOKEN": os.Getenv("GITHUB_TOKEN")}}}
//
// Good:
//
//	cmd.Env = []string{}
//	sbx.Launch{Env: sbx.Environment{Forward: []string{"LANG"}}}
//	sbx.Launch{Credentials: map[string]sbx.Credential{"github": {Value: token}}}
//
// Not reported are os.Getenv of a plain setting, a lookup by name in a copied environment and entries picked from it by name, tools
// started outside the seam (unless "hostenv: {everywhere: true}" in .sbxvet.yaml asks for them), an engine's command-line client, which
// hands nothing on (by its name, or unnamed in a package that imports the engine's client library), a nil Env of known tools of the
// host such as git, and code marked //sbx:inside. Test files are code like any other.
//
// # How to allow it
//
//	cmd.Run() //sbx:allow hostenv <reason>
//
// # What it cannot see
//
// An environment that went through a file, a channel, reflection or a library that parses it; variables read one by one in a loop over
// names; a credential under a name that does not look like one; a nil Env of a command that another function made and that some path
// there leaves without one. An Env that is set before the command is started by a function literal counts as set.
package hostenv
