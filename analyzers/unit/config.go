package unit

import (
	"encoding/json"
	"fmt"
	"go/version"
	"os"
	"runtime"

	"github.com/sbxkit/sbxkit/analyzers/internal/directive"
	"golang.org/x/tools/go/analysis"
)

// A Config describes a compilation unit. It is the part that we use of what the go command writes to vet.cfg
// (cmd/go/internal/work.vetConfig).
type Config struct {
	ID            string // for example "fmt [fmt.test]"
	Compiler      string
	Dir           string
	ImportPath    string
	GoVersion     string // of the module, such as "go1.26.0"
	GoFiles       []string
	NonGoFiles    []string
	IgnoredFiles  []string
	ModulePath    string
	ModuleVersion string
	Module        *analysis.Module  // go1.27 and later
	ImportMap     map[string]string // path in the source to package path
	PackageFile   map[string]string // package path to export data
	PackageVetx   map[string]string // package path to facts, direct imports only
	VetxOnly      bool              // facts only
	VetxOutput    string            // where facts go
	Stdout        string            // where findings go; standard output when empty
	FixArchive    string            // where fixed files go, as a zip file
}

// ReadConfig reads the description of a unit and checks that this program is able to analyse it.
func ReadConfig(name string) (*Config, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading the unit's description: %w", err)
	}
	cfg := new(Config)
	if err := json.Unmarshal(data, cfg); err != nil {
		return nil, fmt.Errorf("reading the unit's description %s: %w", name, err)
	}
	if cfg.Module != nil {
		cfg.ModulePath, cfg.ModuleVersion = cfg.Module.Path, cfg.Module.Version
	} else if cfg.ModulePath != "" {
		cfg.Module = &analysis.Module{Path: cfg.ModulePath, Version: cfg.ModuleVersion, GoVersion: cfg.GoVersion}
	}
	if err := CheckToolchain(cfg.GoVersion); err != nil {
		return nil, fmt.Errorf("package %s: %w", cfg.ImportPath, err)
	}
	return cfg, nil
}

// CheckToolchain returns an error when code of that Go version (such as "go1.26.1") is too new for the toolchain that this program was
// built with.
func CheckToolchain(goVersion string) error {
	own := runtime.Version()
	if !version.IsValid(own) || !version.IsValid(goVersion) {
		return nil // a development build; the type checker decides
	}
	if version.Compare(version.Lang(goVersion), version.Lang(own)) > 0 {
		return fmt.Errorf("needs %s, but this sbxvet was built with %s and cannot read newer code: rebuild sbxvet with the newer toolchain", goVersion, own)
	}
	return nil
}

// Main reports whether the unit belongs to a main module (of the workspace), or was named by its files.
func (c *Config) Main() bool {
	if c.ModulePath == "" {
		return !c.VetxOnly
	}
	return c.ModuleVersion == ""
}

// Standard reports whether the unit is of the standard library, of which no facts are made and nothing is reported.
func (c *Config) Standard() bool {
	return (c.ModulePath == "" || c.ModulePath == "std" || c.ModulePath == "cmd") && directive.StandardPath(c.ImportPath)
}

// WriteFacts writes the unit's encoded facts where the go command wants them.
func (c *Config) WriteFacts(data []byte) error {
	if c.VetxOutput == "" {
		return nil
	}
	if err := os.WriteFile(c.VetxOutput, data, 0o666); err != nil {
		return fmt.Errorf("writing facts: %w", err)
	}
	return nil
}
