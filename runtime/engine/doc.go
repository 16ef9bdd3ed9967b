// Package engine holds the primitives of backends whose sandbox is a container of an engine: Docker, Podman, and what speaks their
// API. Generated backends describe their tool in a Definition and get a runtime.Backend from New; this room does what every engine
// has in common: finding the endpoint, one shared client, identity, images, create, attach, wait, start, the streams, reading back
// what the engine accepted, kill and removal until absence was seen.
//
// Nothing of a run is decided here: defaults and permissions are the spec's, timeouts and the stop ladder are the driver's.
//
//sbx:seam the primitives room that talks to container engines
package engine
