package crdpatch

import (
	"errors"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// annotated is a CRD with the annotation.
type annotated struct {
	*manifest
	record record
	// metadata and annotations are the values of these keys. metadataKey is the index of the key
	// annotations in metadata, key the index of our annotation in annotations.
	metadata, annotations *yaml.Node
	metadataKey, key      int

	schemas []recorded
}

// recorded is a schema of the record, located in the manifest.
type recorded struct {
	schemaRecord
	Place schemapath.Place
	Node  *yaml.Node // nil if it is gone
	// unions and extension are its declarations, nil if there are none.
	unions, extension *union.External
}

// readAnnotation returns the CRD of a manifest with its annotation, or nil if there is no annotation.
func readAnnotation(m *manifest) (*annotated, *diag.Diagnostic) {
	metadata := yamltext.Find(m.node, "metadata")
	annotations := yamltext.Find(metadata.Value, "annotations")
	annotation := yamltext.Find(annotations.Value, Annotation)
	content := annotation.Value
	if content == nil {
		return nil, nil
	}
	c := &annotated{manifest: m, metadata: metadata.Value, metadataKey: annotations.Index, annotations: annotations.Value, key: annotation.Index}
	bad := func(hint, format string, args ...any) (*annotated, *diag.Diagnostic) {
		return nil, new(diag.New(codes.BadAnnotation, c.pos(content), format, args...).Hinted(hint))
	}
	if c.key < 0 || c.metadataKey < 0 || c.metadata.Kind != yaml.MappingNode {
		return bad("write the annotations out", "the annotation %s is shared through an alias or merge key", Annotation)
	}
	text, err := yamltext.String(yamltext.Resolve(content))
	if err == nil {
		c.record, err = parseRecord(text)
	}
	if err != nil {
		hint := "restore it, or delete it together with the rules it lists"
		if errors.Is(err, errOldFormat) {
			hint = "decompile the file with that version, and compile it with this one; or delete the annotation together with the rules it lists"
		}
		return bad(hint, "the annotation %s cannot be read: %v", Annotation, err)
	}
	_, value, wrong := c.read()
	if wrong != nil {
		return nil, wrong
	}
	if c.selected(value) == nil {
		return bad("", "the annotation %s is on something that kubectl does not take for a CRD", Annotation)
	}
	for _, s := range c.record.Schemas {
		r := recorded{schemaRecord: s}
		if r.Place, r.Node = c.place(s.Version, s.Path); r.Node != nil {
			c.declare(&r)
		}
		c.schemas = append(c.schemas, r)
	}
	return c, nil
}

// keyPos returns the position of the annotation.
func (c *annotated) keyPos() diag.Pos { return c.pos(c.annotations.Content[c.key]) }

// options returns the options that the CRD was compiled with.
func (c *annotated) options() compile.Options {
	return compile.Options{Encoding: c.record.Encoding, KubeVersion: c.record.KubeVersion, Origins: compile.Origins{KubeVersion: "the annotation", Encoding: "the annotation"}}
}

// declare sets the declarations of a recorded schema.
func (c *annotated) declare(s *recorded) {
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
	if !s.External && indexOf(s.Node, union.Key) < 0 {
		position := c.pos(s.Node)
		if s.unions.At, s.unions.Own = &position, s.Node; yamltext.Find(s.Node, validations).Key != nil {
			s.unions.Own = yamltext.Find(s.Node, validations).Key
		}
	}
}

// recordedDeclarations are the declarations in the record of a compiled CRD.
type recordedDeclarations struct {
	// own are the declarations that compiling removed from schemas, external the external
	// declarations, including extensions.
	own, external []union.External
	diags         diag.List
}

// recorded returns the recorded declarations, whether or not the rules are still there. It reports
// schemas that are gone, and external declarations that are no longer given.
func (c *annotated) recorded(given given) recordedDeclarations {
	r := c.reverter(revertOptions{given: given})
	for _, s := range c.schemas {
		if len(s.Unions) == 0 {
			continue
		}
		if s.Node == nil {
			r.gone(s.schemaRecord)
			continue
		}
		if s.unions.Own != nil {
			r.own = append(r.own, *s.unions)
		}
		r.keep(s)
	}
	return recordedDeclarations{r.own, r.external, r.diags}
}

// given are external declarations for a CRD.
type given struct {
	declarations []union.External
	// all reports whether these are all external declarations for a version.
	all func(version string) bool
}
