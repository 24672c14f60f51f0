package crdpatch

import (
	"strings"
	"testing"
)

// Escaped surrogate pairs anywhere in a JSON manifest are read, and pairs outside the edits keep
// their spelling.
func TestSurrogatePairs(t *testing.T) {
	const in = `{
  "apiVersion": "apiextensions.k8s.io\/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "things.example.com", "labels": {"half": "\ud83d"}},
  "spec": {
    "group": "example.com", "scope": "Namespaced",
    "names": {"kind": "Thing", "listKind": "ThingList", "plural": "things", "singular": "thing"},
    "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
      "type": "object", "description": "a \ud83d\ude00 thing",
      "properties": {"spec": {"type": "object",
        "x-kubernetes-unions": [{"discriminator": "type", "fields-to-discriminateBy": {"a": "\ud83d\ude00", "b": "B"}}],
        "properties": {"type": {"type": "string", "enum": ["\uD83D\uDE00", "B"]}, "a": {"type": "string"}, "b": {"type": "string"}}
      }}
    }}}]
  }
}
`
	out := string(mustCompile(t, []byte(in), Options{}))
	for _, kept := range []string{`"apiextensions.k8s.io\/v1"`, `{"half": "\ud83d"}`, `"a \ud83d\ude00 thing"`, `["\uD83D\uDE00", "B"]`} {
		if !strings.Contains(out, kept) {
			t.Errorf("%s is gone", kept)
		}
	}
	if !strings.Contains(out, `self.type == '😀'`) {
		t.Errorf("no rule for the value:\n%s", out)
	}
	again, diags := Compile(open("crd.json", []byte(out)), Options{})
	if string(again) != out || diags.HasErrors() {
		t.Errorf("compiled again: %v\n%s", diags, again)
	}
	back, diags := Decompile(open("crd.json", []byte(out)), Options{})
	if string(back) != in || diags.HasErrors() {
		t.Errorf("decompiled: %v\n%s", diags, back)
	}
}
