package gen

import (
	"github.com/dave/jennifer/jen"

	"github.com/sbxkit/sbxkit/spec"
)

func rt(name string) *jen.Statement { return jen.Qual(runtimePath, name) }

// policyFile writes policy.go: the spec's policy as data.
func (p *pkg) policyFile(f *jen.File) {
	f.Comment("// policy is what the spec asks for by default, and what it lets a launch ask for. The value is the caller's.")
	f.Func().Id("policy").Params().Add(rt("Policy")).Block(jen.Return(p.policy()))
}

func (p *pkg) policy() jen.Code {
	var (
		in = p.spec.Policy
		c  composite
	)
	c.add("Environment", environmentPolicy(in.Environment))
	c.add("Limits", list(rt("LimitRule"), mapped(in.Limits, limitRule)))
	c.add("Timeouts", timeouts(in.Timeouts))
	c.add("Hardening", list(rt("HardeningRule"), mapped(in.Hardening, hardeningRule)))
	c.add("Mounts", list(rt("Mount"), mapped(in.Mounts, policyMount)))
	c.text("Network", in.Network.Default)
	c.add("NetworkAccept", namedTexts("NetworkMode", in.Network.Accept))
	c.add("Credentials", list(rt("CredentialRule"), mapped(in.Credentials, credentialRule)))
	c.add("User", user(in.User))
	c.add("UserAccept", namedTexts("UserKind", in.User.Accept))
	c.add("Image", image(in.Image))
	c.add("ImageAccept", places(in.Image.Accept))
	c.add("Workspace", workspace(in.Workspace))
	c.add("Artifacts", artifacts(in.Artifacts))
	c.add("Sockets", places(in.Sockets))
	c.text("Dir", in.Workdir.Text)
	c.add("Knobs", list(rt("Knob"), mapped(in.Knobs, knob)))
	return c.lines(rt("Policy"))
}

// mapped gives the code of each item.
func mapped[T any](items []T, code func(T) jen.Code) []jen.Code {
	out := make([]jen.Code, 0, len(items))
	for _, item := range items {
		out = append(out, code(item))
	}
	return out
}

func environmentPolicy(in spec.EnvironmentPolicy) jen.Code {
	var c composite
	c.add("Forward", places(in.Forward))
	c.add("Set", list(rt("Variable"), mapped(in.Set, func(v spec.Variable) jen.Code {
		var c composite
		c.text("Name", v.Name)
		c.text("Value", v.Value)
		c.flag("Public", true)
		c.text("Origin", "policy")
		return c.inline(jen.Null())
	})))
	c.add("Accept", places(in.Accept))
	c.add("Deny", places(in.Deny))
	return c.optional("EnvironmentPolicy")
}

// optional gives the literal of a runtime type, or nothing where no field says anything.
func (c *composite) optional(typ string) jen.Code {
	if len(c.fields) == 0 {
		return nil
	}
	return c.lines(rt(typ))
}

func limitRule(in spec.LimitRule) jen.Code {
	var c composite
	c.text("Name", in.Name)
	c.add("Default", bound(in.Default))
	c.add("Max", bound(in.Max))
	c.text("Text", in.Text)
	return c.inline(jen.Null())
}

func bound(in *spec.Bound) jen.Code {
	switch {
	case in == nil:
		return nil
	case in.Soft == in.Hard:
		return rt("AtMost").Call(decimal(in.Hard))
	default:
		return jen.Op("&").Add(rt("Limit")).Values(
			jen.Id("Soft").Op(":").Add(decimal(in.Soft)), jen.Id("Hard").Op(":").Add(decimal(in.Hard)))
	}
}

func timeouts(in spec.Timeouts) jen.Code {
	var c composite
	c.duration("Start", in.Start)
	c.duration("Wall", in.Wall)
	c.duration("Idle", in.Idle)
	c.duration("Grace", in.Grace)
	c.duration("Liveness", in.Liveness)
	return c.optional("Timeouts")
}

var levels = map[spec.Level]string{
	spec.LevelRequired: "LevelRequired", spec.LevelPreferred: "LevelPreferred", spec.LevelOff: "LevelOff",
}

func hardeningRule(in spec.HardeningRule) jen.Code {
	var c composite
	c.text("Name", in.Name)
	c.add("Level", rt(levels[in.Level]))
	c.text("Value", in.Value)
	return c.inline(jen.Null())
}

func policyMount(in spec.Mount) jen.Code {
	var c composite
	c.add("Kind", rt(mountKind(in.Kind)))
	c.text("Source", in.Source)
	c.text("Target", in.Target)
	c.number("Size", in.Size)
	c.octal("Mode", in.Mode)
	c.text("Scope", in.Scope)
	c.flag("Optional", in.Optional)
	c.text("Origin", "policy")
	return c.inline(jen.Null())
}

// mountKind gives the runtime's constant of a kind a policy may name.
func mountKind(kind string) string {
	if kind == "mask" {
		return "MountMask"
	}
	return mountKinds[kind]
}

func credentialRule(in spec.CredentialRule) jen.Code {
	var c composite
	c.text("Role", in.Role)
	c.text("Env", in.Env)
	c.text("File", in.File)
	c.flag("Descriptor", in.Descriptor)
	c.octal("Mode", in.Mode)
	return c.inline(jen.Null())
}

func user(in spec.UserPolicy) jen.Code {
	var c composite
	c.text("Kind", in.Default)
	c.number("UID", int64(in.UID))
	c.number("GID", int64(in.GID))
	return c.optionalInline("User")
}

func (c *composite) optionalInline(typ string) jen.Code {
	if len(c.fields) == 0 {
		return nil
	}
	return c.inline(rt(typ))
}

func image(in spec.ImagePolicy) jen.Code {
	var c composite
	c.text("Ref", in.Default)
	c.text("Pull", in.Pull)
	c.text("Platform", in.Platform)
	return c.optionalInline("Image")
}

func workspace(in spec.WorkspacePolicy) jen.Code {
	var c composite
	c.text("Target", in.Target)
	c.text("Default", in.Default)
	c.add("Accept", namedTexts("WorkspaceMode", in.Accept))
	c.number("Files", in.Files)
	c.number("Bytes", in.Bytes)
	return c.optional("WorkspacePolicy")
}

func artifacts(in spec.ArtifactsPolicy) jen.Code {
	var c composite
	c.number("Bytes", in.Bytes)
	c.number("Files", in.Files)
	c.number("Depth", int64(in.Depth))
	c.duration("Timeout", in.Timeout)
	return c.optionalInline("Artifacts")
}

func knob(in spec.Knob) jen.Code {
	var c composite
	c.text("Env", in.Env)
	c.text("Sets", in.Sets)
	c.text("Default", in.Default)
	return c.inline(jen.Null())
}

// places gives the texts of a list of strings with places.
func places(in []spec.Text) jen.Code {
	var words []string
	for _, t := range in {
		words = append(words, t.Text)
	}
	return texts(words)
}

// namedTexts gives a slice of one of the runtime's string types.
func namedTexts(typ string, in []string) jen.Code {
	if len(in) == 0 {
		return nil
	}
	return jen.Index().Add(rt(typ)).Values(mapped(in, func(s string) jen.Code { return literal(s) })...)
}
