package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
)

// create makes a container by the plan's own words, "create" in the place of "run"; without words by words for the request. What this room
// adds to a request is added to the words.
func (c *cli) create(ctx context.Context, r *CreateRequest, argv []string) ([]string, error) {
	var words []string
	if len(argv) > 2 {
		words = append([]string{"create"}, roomWords(r)...)
		words = append(words, argv[2:]...)
	} else {
		words = requestWords(r)
	}
	_, err := c.callWith(ctx, c.limit.change, r.Config.Env, nil, words...)
	if err != nil {
		return nil, c.classify(ctx, err, nil)
	}
	return nil, nil
}

// roomWords are the options for what the room adds to what a spec spells: the labels of ownership.
func roomWords(r *CreateRequest) []string {
	var w []string
	for _, name := range slices.Sorted(maps.Keys(r.Config.Labels)) {
		w = append(w, "--label", name+"="+r.Config.Labels[name])
	}
	return w
}

// requestWords spells the requests that this room makes itself: the probe's and the one a workspace is seeded through.
func requestWords(r *CreateRequest) []string {
	h := r.HostConfig
	w := append([]string{"create", "--name", r.Name, "--network", string(h.NetworkMode)}, roomWords(r)...)
	add := func(flag, value string) {
		if value != "" {
			w = append(w, flag, value)
		}
	}
	add("--log-driver", h.LogConfig.Type)
	add("--cgroupns", string(h.CgroupnsMode))
	if h.Init != nil && *h.Init {
		w = append(w, "--init")
	}
	if h.ReadonlyRootfs {
		w = append(w, "--read-only")
	}
	for _, v := range h.CapDrop {
		add("--cap-drop", v)
	}
	for _, v := range h.SecurityOpt {
		add("--security-opt", v)
	}
	for _, u := range h.Ulimits {
		add("--ulimit", fmt.Sprintf("%s=%d:%d", u.Name, u.Soft, u.Hard))
	}
	for _, l := range []struct {
		flag string
		n    int64
	}{{"--memory", h.Memory}, {"--memory-swap", h.MemorySwap}} {
		if l.n != 0 {
			w = append(w, l.flag, strconv.FormatInt(l.n, 10))
		}
	}
	if h.NanoCPUs != 0 {
		w = append(w, "--cpus", strconv.FormatFloat(float64(h.NanoCPUs)/1e9, 'f', -1, 64))
	}
	if h.PidsLimit != nil {
		w = append(w, "--pids-limit", strconv.FormatInt(*h.PidsLimit, 10))
	}
	for _, m := range h.Mounts {
		v := fmt.Sprintf("type=%s,source=%s,target=%s", m.Type, m.Source, m.Target)
		if m.ReadOnly {
			v += ",readonly"
		}
		w = append(w, "--mount", v)
	}
	command := slices.Concat(r.Config.Entrypoint, r.Config.Cmd)
	if len(r.Config.Entrypoint) != 0 {
		w = append(w, "--entrypoint", r.Config.Entrypoint[0])
		command = command[1:]
	}
	return append(append(w, "--", r.Config.Image), command...)
}

func (c *cli) inspect(ctx context.Context, name string) (*container.InspectResponse, error) {
	return again(ctx, c.limit.poll, func(ctx context.Context) (*container.InspectResponse, error) {
		out, err := c.call(ctx, c.limit.look, nil, "container", "inspect", name)
		if err != nil {
			return nil, c.undescribed(ctx, err, name)
		}
		return decodeContainer(out)
	})
}

// undescribed says why a container was not described: it is not there where a list of all, which needs no description, does not name it.
// A list that was not given leaves the error without an answer.
func (c *cli) undescribed(ctx context.Context, err error, name string) error {
	var failed *cliError
	if !errors.As(err, &failed) {
		return err
	}
	switch e := c.missing(ctx, name); {
	case cerrdefs.IsNotFound(e):
		failed.class = cerrdefs.ErrNotFound
	case e != nil:
		return err
	default:
		failed.class = cerrdefs.ErrUnknown
	}
	return failed
}

// missing looks for a container in a list of all, by its name or its id.
func (c *cli) missing(ctx context.Context, name string) error {
	filter := "name=^/?" + regexp.QuoteMeta(name) + "$"
	if containerID.MatchString(name) {
		filter = "id=" + name
	}
	out, err := c.call(ctx, c.limit.look, nil, "container", "ls", "--all", "--quiet", "--no-trunc", "--filter", filter)
	if err == nil && len(strings.Fields(string(out))) == 0 {
		err = fmt.Errorf("the container %s: %w", name, cerrdefs.ErrNotFound)
	}
	return err
}

// containerID is an engine's own name for a container, in full.
var containerID = regexp.MustCompile("^[0-9a-f]{64}$")

// decodeContainer reads what both programs print. Podman's own form has fields of Docker's names with other types (Config.StopSignal is a
// number, Config.Entrypoint a text): only what is used is read.
func decodeContainer(out []byte) (*container.InspectResponse, error) {
	var v struct {
		ID, Name, Image, AppArmorProfile string
		State                            container.State
		Config                           struct {
			Labels      map[string]string
			User        string
			Healthcheck *HealthConfig
		}
		HostConfig struct {
			Memory, MemorySwap, NanoCpus, ShmSize                                   int64
			CpusetCpus, IpcMode, PidMode, UTSMode, NetworkMode, Cgroups, UsernsMode string
			CgroupnsMode                                                            string
			// Podman writes CgroupMode.
			CgroupMode               string
			PidsLimit                *int64
			CapDrop, CapAdd          []string
			SecurityOpt, MaskedPaths []string
			ReadonlyRootfs           bool
			Init                     json.RawMessage
			Ulimits                  []*Ulimit
		}
		NetworkSettings struct {
			Networks map[string]json.RawMessage
		}
	}
	if err := decodeFirst(out, &v); err != nil {
		return nil, err
	}
	h := &HostConfig{
		NetworkMode: NetworkMode(v.HostConfig.NetworkMode), IpcMode: IpcMode(v.HostConfig.IpcMode), PidMode: PidMode(v.HostConfig.PidMode),
		UTSMode: UTSMode(v.HostConfig.UTSMode), CgroupnsMode: CgroupnsMode(v.HostConfig.CgroupnsMode), CapDrop: v.HostConfig.CapDrop,
		CapAdd: v.HostConfig.CapAdd, SecurityOpt: v.HostConfig.SecurityOpt, ReadonlyRootfs: v.HostConfig.ReadonlyRootfs, ShmSize: v.HostConfig.ShmSize,
		MaskedPaths: v.HostConfig.MaskedPaths,
	}
	if h.CgroupnsMode == "" {
		h.CgroupnsMode = CgroupnsMode(v.HostConfig.CgroupMode)
	}
	h.Resources = Resources{
		Memory: v.HostConfig.Memory, MemorySwap: v.HostConfig.MemorySwap, NanoCPUs: v.HostConfig.NanoCpus, CpusetCpus: v.HostConfig.CpusetCpus,
		PidsLimit: v.HostConfig.PidsLimit, Ulimits: v.HostConfig.Ulimits,
	}
	if string(v.HostConfig.Init) == "true" {
		h.Init = new(true)
	}
	networks := map[string]*EndpointSettings{}
	for name := range v.NetworkSettings.Networks {
		networks[name] = &EndpointSettings{}
	}
	return &container.InspectResponse{
		ContainerJSONBase: &container.ContainerJSONBase{
			ID: v.ID, Name: trimSlash(v.Name), Image: v.Image, AppArmorProfile: v.AppArmorProfile, State: &v.State, HostConfig: h,
		},
		Config:          &Config{Labels: v.Config.Labels, User: v.Config.User, Healthcheck: v.Config.Healthcheck},
		NetworkSettings: &container.NetworkSettings{Networks: networks},
	}, nil
}

func (c *cli) find(ctx context.Context, label string) ([]found, error) {
	return again(ctx, c.limit.poll, func(ctx context.Context) ([]found, error) {
		return c.list(ctx, []string{"container", "ls", "--all", "--quiet", "--no-trunc", "--filter", "label=" + label}, func(ctx context.Context, id string) (found, error) {
			i, err := c.inspect(ctx, id)
			if err != nil {
				return found{}, err
			}
			return found{name: i.Name, state: i.State.Status, labels: i.Config.Labels}, nil
		})
	})
}

// list runs a listing of ids or names and describes each; one that is gone by then is left out.
func (c *cli) list(ctx context.Context, words []string, describe func(context.Context, string) (found, error)) ([]found, error) {
	out, err := c.call(ctx, c.limit.look, nil, words...)
	if err != nil {
		return nil, c.classify(ctx, err, nil)
	}
	var list []found
	for _, id := range strings.Fields(string(out)) {
		f, err := describe(ctx, id)
		if cerrdefs.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// there asks whether a container exists.
func (c *cli) there(name string) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		err := c.missing(ctx, name)
		if cerrdefs.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	}
}

func (c *cli) kill(ctx context.Context, name, signal string) error {
	if _, err := c.call(ctx, c.limit.kill, nil, "kill", "--signal", signal, name); err != nil {
		return c.classify(ctx, err, c.there(name))
	}
	return nil
}

func (c *cli) remove(ctx context.Context, name string) error {
	// The programs differ, by version too, in what they say to the removal of what is not there.
	if _, err := c.call(ctx, c.limit.remove, nil, "rm", "--force", "--volumes", name); err != nil {
		return c.classify(ctx, err, c.there(name))
	}
	return nil
}

func (c *cli) resize(context.Context, string, uint16, uint16) error { return errors.ErrUnsupported }
