package engine

import "os"

// current gives the link to the endpoint that the last probe found, or that the environment names now.
func (b *Backend) current() (link, error) {
	b.mu.Lock()
	host := b.probed
	b.mu.Unlock()
	if host != "" {
		return b.linkTo(host)
	}
	e, err := b.resolve(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	return b.link(e, os.LookupEnv)
}
