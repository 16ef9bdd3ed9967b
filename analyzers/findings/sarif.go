package findings

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/go/analysis"
)

// The part of SARIF 2.1.0 that we write
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json). It is written out here, and not taken
// from a library, because the same program runs once for each package and what it links is paid for each time.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool               sarifTool            `json:"tool"`
		OriginalURIBaseIDs map[string]sarifBase `json:"originalUriBaseIds"`
		ColumnKind         string               `json:"columnKind"`
		Results            []sarifResult        `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string       `json:"id"`
		Name             string       `json:"name"`
		ShortDescription sarifMessage `json:"shortDescription"`
		FullDescription  sarifMessage `json:"fullDescription"`
		HelpURI          string       `json:"helpUri"`
		Help             sarifMessage `json:"help"`
		DefaultConfig    sarifConfig  `json:"defaultConfiguration"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID              string            `json:"ruleId"`
		RuleIndex           int               `json:"ruleIndex"`
		Level               string            `json:"level"`
		Message             sarifMessage      `json:"message"`
		Locations           []sarifLocation   `json:"locations"`
		RelatedLocations    []sarifLocation   `json:"relatedLocations,omitempty"`
		PartialFingerprints map[string]string `json:"partialFingerprints"`
		Fixes               []sarifFix        `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		ID       int           `json:"id,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifMessage `json:"message,omitempty"`
	}
	sarifBase struct {
		Description sarifMessage `json:"description"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI       string `json:"uri"`
		URIBaseID string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int  `json:"startLine,omitempty"`
		StartColumn int  `json:"startColumn,omitempty"`
		EndLine     int  `json:"endLine,omitempty"`
		EndColumn   int  `json:"endColumn,omitempty"`
		ByteOffset  *int `json:"byteOffset,omitempty"`
		ByteLength  *int `json:"byteLength,omitempty"`
	}
	sarifFix struct {
		Description sarifMessage  `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion   `json:"deletedRegion"`
		Inserted *sarifMessage `json:"insertedContent,omitempty"`
	}
)

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	sourceRoot  = "%SRCROOT%"
	homepage    = "https://github.com/sbxkit/sbxkit"
)

// WriteSARIF writes the findings as a SARIF 2.1.0 log. Files below root, which is the module's or the workspace's directory, are relative
// to it.
func WriteSARIF(w io.Writer, root string, rules []*analysis.Analyzer, list []Finding) error {
	s := &sarifWriter{root: root, lines: make(map[string][]string)}
	run := sarifRun{
		Tool:               sarifTool{sarifDriver{Name: "sbxvet", InformationURI: homepage, Rules: []sarifRule{}}},
		OriginalURIBaseIDs: map[string]sarifBase{sourceRoot: {sarifMessage{"the directory of the module or workspace"}}},
		ColumnKind:         "unicodeCodePoints",
		Results:            []sarifResult{},
	}
	index := make(map[string]int)
	for i, a := range rules {
		title, body, _ := strings.Cut(a.Doc, "\n")
		index[a.Name] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{
			ID: a.Name, Name: a.Name,
			ShortDescription: sarifMessage{strings.TrimPrefix(title, a.Name+": ")},
			FullDescription:  sarifMessage{strings.TrimSpace(strings.TrimPrefix(firstParagraph(body), "\n"))},
			HelpURI:          a.URL,
			Help:             sarifMessage{a.Doc},
			DefaultConfig:    sarifConfig{"error"},
		})
	}
	prints := Fingerprints(root, list)
	for i, f := range list {
		n, ok := index[f.Rule]
		if !ok {
			return fmt.Errorf("finding of a rule that does not exist: %s", f.Rule)
		}
		r := sarifResult{
			RuleID: f.Rule, RuleIndex: n, Level: "error",
			Message:             sarifMessage{f.Message},
			Locations:           []sarifLocation{s.location(f.Posn, f.End)},
			PartialFingerprints: map[string]string{"sbxvet/v1": prints[i]},
		}
		for k, rel := range f.Related {
			loc := s.location(rel.Posn, rel.End)
			loc.ID, loc.Message = k+1, &sarifMessage{rel.Message}
			r.RelatedLocations = append(r.RelatedLocations, loc)
		}
		for _, fix := range f.SuggestedFixes {
			out := sarifFix{Description: sarifMessage{fix.Message}}
			for _, e := range fix.Edits {
				start, length := e.Start, e.End-e.Start
				out.Changes = append(out.Changes, sarifChange{s.artifact(e.Filename), []sarifReplacement{{
					Deleted:  sarifRegion{ByteOffset: &start, ByteLength: &length},
					Inserted: &sarifMessage{e.New},
				}}})
			}
			r.Fixes = append(r.Fixes, out)
		}
		run.Results = append(run.Results, r)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(sarifLog{sarifSchema, "2.1.0", []sarifRun{run}}); err != nil {
		return fmt.Errorf("writing SARIF: %w", err)
	}
	return nil
}

func firstParagraph(s string) string {
	s = strings.TrimSpace(s)
	p, _, _ := strings.Cut(s, "\n\n")
	return strings.Join(strings.Fields(p), " ")
}

type sarifWriter struct {
	root  string
	lines map[string][]string
}

func (s *sarifWriter) artifact(file string) sarifArtifact {
	rel := Relative(s.root, file)
	if filepath.IsAbs(rel) {
		u := url.URL{Scheme: "file", Path: filepath.ToSlash(rel)}
		if !strings.HasPrefix(u.Path, "/") {
			u.Path = "/" + u.Path
		}
		return sarifArtifact{URI: u.String()}
	}
	u := url.URL{Path: filepath.ToSlash(rel)}
	return sarifArtifact{URI: strings.TrimPrefix(u.String(), "./"), URIBaseID: sourceRoot}
}

func (s *sarifWriter) location(start, end string) sarifLocation {
	pos, err := ParsePosition(start)
	if err != nil {
		pos = Position{File: start}
	}
	loc := sarifLocation{Physical: sarifPhysical{Artifact: s.artifact(pos.File)}}
	if pos.Line < 1 {
		return loc
	}
	region := &sarifRegion{StartLine: pos.Line, StartColumn: s.column(pos)}
	if stop, err := ParsePosition(end); err == nil && stop.File == pos.File && end != start &&
		(stop.Line > pos.Line || stop.Line == pos.Line && stop.Column > pos.Column) {
		region.EndLine, region.EndColumn = stop.Line, s.column(stop)
	}
	loc.Physical.Region = region
	return loc
}

// column converts a column in bytes to one in code points.
func (s *sarifWriter) column(p Position) int {
	lines, ok := s.lines[p.File]
	if !ok {
		if data, err := os.ReadFile(p.File); err == nil {
			lines = strings.Split(string(data), "\n")
		}
		s.lines[p.File] = lines
	}
	if p.Line < 1 || p.Line > len(lines) || p.Column < 1 {
		return p.Column
	}
	line := lines[p.Line-1]
	return utf8.RuneCountInString(line[:min(p.Column-1, len(line))]) + 1
}
