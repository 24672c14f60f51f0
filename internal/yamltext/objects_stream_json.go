package yamltext

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/unioncel/unioncel/internal/codes"

	"github.com/unioncel/unioncel/pkg/diag"
)

// json reads a sequence of JSON objects.
func (p *parts) json(in *objectReader) error {
	d := json.NewDecoder(in)
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		line := in.lineAt(d.InputOffset())
		if err == nil && t != json.Delim('{') {
			err = p.wrong(line, "an object is missing")
		}
		if err == nil {
			err = p.jsonObject(d, in, line)
		}
		if err != nil {
			return p.jsonError(in, d, err)
		}
	}
}

func (p *parts) jsonError(in *objectReader, d *json.Decoder, err error) error {
	var part *partError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &part):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return p.wrong(in.lineAt(d.InputOffset()), "the file ends in the middle of the value that begins here")
	case errors.As(err, &syntax):
		wrong := p.wrong(in.lineAt(syntax.Offset), "%v", err)
		wrong.Hint = "a file larger than 1 MiB that begins with JSON objects is read as JSON; lines with --- may separate the objects"
		return wrong
	case errors.Is(err, errTooLong):
		wrong := p.wrong(in.lineAt(d.InputOffset()), "the object that begins here is larger than the limit of %s", bytesOf(p.limits.Size))
		wrong.Code, wrong.Hint = codes.OverLimit, LimitHint("size")
		return wrong
	}
	return err
}

// jsonObject reads the rest of an object that begins on the given line.
func (p *parts) jsonObject(d *json.Decoder, in *objectReader, line int) error {
	header := map[string]json.RawMessage{}
	cut := false
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, ok := t.(string)
		if !ok {
			return p.wrong(line, "a key is missing")
		}
		if _, twice := header[key]; twice {
			return p.wrong(line, "key %q occurs twice in this object", key)
		}
		var kind string
		_ = json.Unmarshal(header["kind"], &kind) // kind may not have been read yet
		if key != "items" || kind != "" && !isList(kind) {
			var raw json.RawMessage
			if err := in.decode(d, &raw); err != nil {
				return err
			}
			header[key] = raw
			continue
		}
		if t, err = d.Token(); err != nil {
			return err
		} else if t != json.Delim('[') {
			return p.wrong(line, "items is not a list")
		}
		cut, header[key] = true, json.RawMessage("[]")
		if err := p.jsonItems(d, in); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	v, err := p.read(line, text)
	if err != nil {
		return err
	}
	if cut {
		return p.ended(line, v)
	}
	return p.objects(diag.Pos{File: p.name, Line: line, Col: 1}, v)
}

func (p *parts) jsonItems(d *json.Decoder, in *objectReader) error {
	for d.More() {
		var raw json.RawMessage
		if err := in.decode(d, &raw); err != nil {
			return err
		}
		line := in.lineAt(d.InputOffset() - int64(len(raw)))
		v, err := p.read(line, raw)
		if err != nil {
			return err
		}
		if err := p.objects(diag.Pos{File: p.name, Line: line, Col: 1}, v); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}
