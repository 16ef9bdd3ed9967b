package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/docker/docker/api/types/image"
)

func (a *api) image(ctx context.Context, ref string) (*image.InspectResponse, error) {
	ctx, cancel := bounded(ctx, a.limit.look, "GET /images/{name}/json")
	defer cancel()
	if a.isPodman() {
		// Its Docker API leaves the image's health check out (4.3.1).
		body, err := a.libpod(ctx, "/images/"+url.PathEscape(ref)+"/json")
		if err != nil {
			return nil, err
		}
		i, err := decodeImage(body)
		if err != nil {
			return nil, err
		}
		i.ID = "sha256:" + bareID(i.ID)
		return i, nil
	}
	i, err := a.cli.ImageInspect(ctx, ref)
	if err != nil {
		return nil, causeOf(ctx, err)
	}
	return &i, nil
}

// pull is bounded by ctx alone: how long a download may take is the caller's to say.
func (a *api) pull(ctx context.Context, ref, platform string, progress func(string)) error {
	stream, err := a.cli.ImagePull(ctx, ref, image.PullOptions{Platform: platform})
	if err != nil {
		return causeOf(ctx, err)
	}
	defer stream.Close()
	return causeOf(ctx, readProgress(stream, progress))
}

// readProgress reads a pull's stream of JSON objects to its end. An engine reports the failure of a pull inside a stream that began
// with status 200.
func readProgress(r io.Reader, progress func(string)) error {
	d := json.NewDecoder(r)
	for {
		var line struct {
			Status, ID, Error string
			Progress          string `json:"progress"`
			ErrorDetail       *struct{ Message string }
		}
		switch err := d.Decode(&line); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading the progress of the pull: %w", err)
		case line.ErrorDetail != nil && line.ErrorDetail.Message != "":
			return &pullError{line.ErrorDetail.Message}
		case line.Error != "":
			return &pullError{line.Error}
		}
		if progress == nil || line.Status == "" {
			continue
		}
		text := line.Status
		if line.ID != "" {
			text = line.ID + ": " + text
		}
		if line.Progress != "" {
			text += " " + line.Progress
		}
		progress(text)
	}
}

// pullError is what an engine says inside a pull's stream.
type pullError struct{ message string }

func (e *pullError) Error() string { return e.message }
