package crdpatch

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
)

var errNoRoom = errors.New("there is no room for a value")

// nullAt returns the span of a key's null value and its text, starting with the colon. The
// error is errNoRoom if no value fits there.
func (w *writer) nullAt(in, key, value *yaml.Node) (yamltext.Span, string, error) {
	at, err := w.editor().AfterKey(key, value)
	if err != nil {
		return at, "", err
	}
	was := ":" + string(w.Src[at.Start:at.End])
	if was == ":" && yamltext.IsFlow(in) && strings.IndexByte(",}", w.Src[at.End]) >= 0 {
		return at, "", errNoRoom
	}
	return at, was, nil
}

// spaceAfter returns the space between a key and the replacement of its null value.
func (w *writer) spaceAfter(key *yaml.Node) string {
	if w.editor().Tight() && key.Style != 0 {
		return ""
	}
	return " "
}

// null returns the null value to write between the colon of a key and offset end: the recorded
// text, or equivalent text if the layout has changed and requires it.
func (b *base) null(in, key *yaml.Node, was string, end int) string {
	quoted := key.Style != 0
	switch {
	case b.isJSON() && !b.record.JSON, was == "" && yamltext.IsFlow(in) && strings.IndexByte(",}", b.Src[end]) >= 0:
		return " null"
	case was != "" && strings.IndexByte(" \t\r\n", was[0]) < 0 && !(quoted && yamltext.IsFlow(in)):
		return " " + was
	}
	return was
}
