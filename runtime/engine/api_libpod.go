package engine

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/docker/docker/client"
)

// libpod asks Podman's own API, for what its Docker API does not tell. The caller bounds ctx.
func (a *api) libpod(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+client.DummyHost+"/v4.0.0/libpod"+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := a.cli.HTTPClient().Do(req)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxOutput))
	if resp.StatusCode != http.StatusOK {
		var e struct{ Message string }
		if json.Unmarshal(body, &e) != nil || e.Message == "" {
			e.Message = http.StatusText(resp.StatusCode)
		}
		return nil, &statusError{status: resp.StatusCode, message: e.Message}
	}
	return body, causeOf(ctx, err)
}
