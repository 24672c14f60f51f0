package compiled

import (
	"errors"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdtext"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Annotated is a CRD with the annotation.
type Annotated struct {
	*crdtext.Manifest
	Record Record
	// Metadata and Annotations are the values of metadata and annotations. MetadataKey is the
	// index of the key annotations in Metadata, Key the index of our annotation in Annotations.
	Metadata, Annotations *yaml.Node
	MetadataKey, Key      int

	schemas []recorded
}

// recorded is a schema of the record, located in the manifest.
type recorded struct {
	Schema
	Place schemapath.Place
	Node  *yaml.Node // nil if it is gone
	// unions and extension are its declarations, nil if there are none.
	unions, extension *union.External
}

// Read returns the CRD of a manifest with its annotation, or nil if there is no annotation.
func Read(m *crdtext.Manifest) (*Annotated, *diag.Diagnostic) {
	metadata := yamltext.Find(m.Node, "metadata")
	annotations := yamltext.Find(metadata.Value, "annotations")
	annotation := yamltext.Find(annotations.Value, Annotation)
	content := annotation.Value
	if content == nil {
		return nil, nil
	}
	c := &Annotated{Manifest: m, Metadata: metadata.Value, MetadataKey: annotations.Index, Annotations: annotations.Value, Key: annotation.Index}
	bad := func(hint, format string, args ...any) (*Annotated, *diag.Diagnostic) {
		return nil, new(diag.New(codes.BadAnnotation, c.Pos(content), format, args...).Hinted(hint))
	}
	if c.Key < 0 || c.MetadataKey < 0 || c.Metadata.Kind != yaml.MappingNode {
		return bad("write the annotations out", "the annotation %s is shared through an alias or merge key", Annotation)
	}
	text, err := yamltext.String(yamltext.Resolve(content))
	if err == nil {
		c.Record, err = Parse(text)
	}
	if err != nil {
		hint := "restore it, or delete it together with the rules it lists"
		if errors.Is(err, errOldFormat) {
			hint = "decompile the file with that version, and compile it with this one; or delete the annotation together with the rules it lists"
		}
		return bad(hint, "the annotation %s cannot be read: %v", Annotation, err)
	}
	_, value, wrong := c.Value()
	if wrong != nil {
		return nil, wrong
	}
	if c.Select(value) == nil {
		return bad("", "the annotation %s is on something that kubectl does not take for a CRD", Annotation)
	}
	for _, s := range c.Record.Schemas {
		r := recorded{Schema: s}
		if r.Place, r.Node = c.Place(s.Version, s.Path); r.Node != nil {
			c.declare(&r)
		}
		c.schemas = append(c.schemas, r)
	}
	return c, nil
}

// keyPos returns the position of the annotation.
func (c *Annotated) keyPos() diag.Pos { return c.Pos(c.Annotations.Content[c.Key]) }

// Options returns the options that the CRD was compiled with.
func (c *Annotated) Options() compile.Options {
	return compile.Options{Encoding: c.Record.Encoding, KubeVersion: c.Record.KubeVersion, Origins: compile.Origins{KubeVersion: "the annotation", Encoding: "the annotation"}}
}

// declare sets the declarations of a recorded schema.
func (c *Annotated) declare(s *recorded) {
	at := c.keyPos()
	if len(s.Extend) > 0 {
		value, _ := yamltext.FromJSON(s.Extend) // the record was checked
		s.extension = &union.External{Version: s.Version, Path: s.Path, Value: value, At: &at, Extend: true}
	}
	if len(s.Unions) == 0 {
		return
	}
	value, _ := yamltext.FromJSON(s.Unions)
	s.unions = &union.External{Version: s.Version, Path: s.Path, Value: value, At: &at}
	if !s.External && crdtext.IndexOf(s.Node, union.Key) < 0 {
		position := c.Pos(s.Node)
		if s.unions.At, s.unions.Own = &position, s.Node; yamltext.Find(s.Node, Validations).Key != nil {
			s.unions.Own = yamltext.Find(s.Node, Validations).Key
		}
	}
}

// Recorded are the declarations in the record of a compiled CRD.
type Recorded struct {
	// Own are the declarations that compiling removed from schemas. External are the external
	// declarations, including extensions.
	Own, External []union.External
	Diags         diag.List
}

// Recorded returns the recorded declarations, whether or not the rules are still there. It reports
// schemas that are gone, and external declarations that are no longer given.
func (c *Annotated) Recorded(given Given) Recorded {
	r := c.reverter(Options{Given: given})
	for _, s := range c.schemas {
		if len(s.Unions) == 0 {
			continue
		}
		if s.Node == nil {
			r.gone(s.Schema)
			continue
		}
		if s.unions.Own != nil {
			r.own = append(r.own, *s.unions)
		}
		r.keep(s)
	}
	return Recorded{r.own, r.External, r.Diags}
}

// Given are external declarations for a CRD.
type Given struct {
	Declarations []union.External
	// All reports whether these are all external declarations for a version.
	All func(version string) bool
}
