package engine

import (
	"github.com/docker/docker/api/types/blkiodev"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/strslice"
	"github.com/docker/go-connections/nat"
	dockerspec "github.com/moby/docker-image-spec/specs-go/v1"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// The API's types under this package's names, so that generated code imports this room and never the client: a change of client module
// is a change here.
type (
	Config            = container.Config
	HostConfig        = container.HostConfig
	Resources         = container.Resources
	Ulimit            = container.Ulimit
	DeviceMapping     = container.DeviceMapping
	DeviceRequest     = container.DeviceRequest
	RestartPolicy     = container.RestartPolicy
	RestartPolicyMode = container.RestartPolicyMode
	LogConfig         = container.LogConfig
	HealthConfig      = container.HealthConfig
	imageConfig       = dockerspec.DockerOCIImageConfig
	NetworkMode       = container.NetworkMode
	CgroupnsMode      = container.CgroupnsMode
	CgroupSpec        = container.CgroupSpec
	IpcMode           = container.IpcMode
	PidMode           = container.PidMode
	UTSMode           = container.UTSMode
	UsernsMode        = container.UsernsMode
	Isolation         = container.Isolation

	Mount            = mount.Mount
	MountType        = mount.Type
	MountPropagation = mount.Propagation
	MountConsistency = mount.Consistency
	BindOptions      = mount.BindOptions
	VolumeOptions    = mount.VolumeOptions
	VolumeDriver     = mount.Driver
	TmpfsOptions     = mount.TmpfsOptions

	NetworkingConfig   = network.NetworkingConfig
	EndpointSettings   = network.EndpointSettings
	EndpointIPAMConfig = network.EndpointIPAMConfig

	WeightDevice   = blkiodev.WeightDevice
	ThrottleDevice = blkiodev.ThrottleDevice

	StrSlice    = strslice.StrSlice
	Port        = nat.Port
	PortSet     = nat.PortSet
	PortMap     = nat.PortMap
	PortBinding = nat.PortBinding
	Platform    = ocispec.Platform
)

// The kinds of mount the API knows.
const (
	MountTypeBind   = mount.TypeBind
	MountTypeTmpfs  = mount.TypeTmpfs
	MountTypeVolume = mount.TypeVolume
)
