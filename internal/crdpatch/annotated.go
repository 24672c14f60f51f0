package crdpatch

import (
	"errors"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// annotated is a CRD with the annotation.
type annotated struct {
	*manifest
	record record
	// metadata is the value of this key. The other entries are annotations in metadata, and our
	// annotation in annotations.
	metadata                *yaml.Node
	annotations, annotation yamltext.Entry

	schemas []claim
}

// readAnnotation returns the CRD of a manifest with its annotation, or nil if there is no annotation.
func readAnnotation(m *manifest) (*annotated, *diag.Diagnostic) {
	metadata := yamltext.Lookup(m.node, "metadata")
	annotations := yamltext.Lookup(metadata.Value, "annotations")
	annotation := yamltext.Lookup(annotations.Value, Annotation)
	content := annotation.Value
	if content == nil {
		return nil, nil
	}
	c := &annotated{manifest: m, metadata: metadata.Value, annotations: annotations, annotation: annotation}
	bad := func(hint, format string, args ...any) (*annotated, *diag.Diagnostic) {
		return nil, new(diag.New(codes.BadAnnotation, c.pos(content), format, args...).Hinted(hint))
	}
	if annotation.Index < 0 || annotations.Index < 0 || metadata.Value.Kind != yaml.MappingNode {
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
		k := claim{schemaRecord: s}
		if k.place, k.node = c.place(s.Version, s.Path); k.node != nil {
			k.declared = yamltext.Lookup(k.node, union.Key).Key != nil
			c.readDeclarations(&k)
		}
		c.schemas = append(c.schemas, k)
	}
	return c, nil
}

// keyPos returns the position of the annotation.
func (c *annotated) keyPos() diag.Pos { return c.pos(c.annotation.Key) }

// options returns the options that the CRD was compiled with.
func (c *annotated) options() compile.Options {
	return compile.Options{Encoding: c.record.Encoding, KubeVersion: c.record.KubeVersion, Origins: compile.Origins{KubeVersion: "the annotation", Encoding: "the annotation"}}
}

// source returns the CRD as kubectl reads it. The result is read-only.
func (c *annotated) source() map[string]any {
	_, value, _ := c.manifest.read()
	return c.selected(value)
}

// readDeclarations sets the recorded declarations of a schema.
func (c *annotated) readDeclarations(k *claim) {
	external := func(text []byte) *union.External {
		if len(text) == 0 {
			return nil
		}
		value, _ := yamltext.FromJSON(text) // the record was checked
		return &union.External{Version: k.Version, Path: k.Path, Value: value, At: new(c.keyPos())}
	}
	k.unions = external(k.Unions)
	if k.extension = external(k.Extend); k.extension != nil {
		k.extension.Extend = true
	}
	if k.restored() {
		k.unions.At, k.unions.Own = new(c.pos(k.node)), k.node
		if rules := yamltext.Lookup(k.node, validations); rules.Key != nil {
			k.unions.Own = rules.Key
		}
	}
}
