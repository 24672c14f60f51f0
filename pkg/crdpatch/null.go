package crdpatch

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamledit"
)

var errNoRoom = errors.New("there is no room for a value")

// nullAt returns where the null value of a key is, and its text from the colon on; or
// errNoRoom.
func (w *writer) nullAt(in, key, value *yaml.Node) (yamledit.Span, string, error) {
	at, err := w.Editor().AfterKey(key, value)
	if err != nil {
		return at, "", err
	}
	was := ":" + string(w.Src[at.Start:at.End])
	if was == ":" && yamledit.IsFlow(in) && strings.IndexByte(",}", w.Src[at.End]) >= 0 {
		return at, "", errNoRoom
	}
	return at, was, nil
}

// spaceAfter is the space between a key and what takes the place of its null value.
func (w *writer) spaceAfter(key *yaml.Node) string {
	if w.Editor().Tight() && key.Style != 0 {
		return ""
	}
	return " "
}

// null returns a null value to put after the colon of a key and before
// offset end: the one that was there, unless the layout has changed so that it
// cannot stay as it was.
func (r *remover) null(in, key *yaml.Node, was string, end int) string {
	quoted := key.Style != 0
	switch {
	case r.Manifest.IsJSON() && !r.Record.JSON, was == "" && yamledit.IsFlow(in) && strings.IndexByte(",}", r.Src[end]) >= 0:
		return " null"
	case was != "" && strings.IndexByte(" \t\r\n", was[0]) < 0 && !(quoted && yamledit.IsFlow(in)):
		return " " + was
	}
	return was
}
