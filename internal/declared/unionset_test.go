package declared_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/declared"
	"github.com/unioncel/unioncel/pkg/diag"
)

const header = "apiVersion: unioncel.dev/v1alpha1\nkind: UnionSet\n"

// good are valid files, with the CRDs that they name and a line for each declaration.
var good = []struct {
	name, text string
	targets    string
	want       []string
}{
	{"one", header + `
metadata: {name: backups}
schemas:
- crd: backups.example.com
  versions: [v1]
  path: spec.storage
  x-kubernetes-unions:
  - discriminator: type
    fields-to-discriminateBy: {s3: S3, nfs: NFS}
`, "backups.example.com", []string{"10:3 backups.example.com v1 spec.storage 1"}},

	{"all versions, root", header + `
schemas:
- crd: a.example.com
  x-kubernetes-unions: [{members: [x, w]}]
- crd: b.example.com
  path: ""
  x-kubernetes-unions: [{members: [x, w]}, {members: [p, q], name: other}]
`, "a.example.com b.example.com", []string{"6:24 a.example.com   1", "9:24 b.example.com   2"}},

	{"items of lists, which differ in numbers", header + `
schemas:
- crd: a.example.com
  versions: [v1]
  path: spec.ports
  x-kubernetes-unions: [{members: [{port: 80, tls: true}, {port: -1, tls: false}]}]
- crd: a.example.com
  versions: [v2]
  path: spec.ports
  x-kubernetes-unions: [{members: [{port: 81, tls: true}, {port: -1, tls: false}]}]
- crd: b.example.com
  path: spec.ports
  extend: [{members: [{name: a}, {name: "80"}]}]
`, "a.example.com b.example.com", []string{"8:24 a.example.com v1 spec.ports 1", "12:24 a.example.com v2 spec.ports 1", "15:11 b.example.com  spec.ports 1"}},

	{"extensions", header + `
schemas:
- crd: a.example.com
  extend:
  - ratchet: true
- crd: a.example.com
  path: spec
  x-kubernetes-unions: [{members: [x, w]}]
  extend: [{union: backend, allowedChanges: {A: [B]}}, {union: x, name: other}]
`, "a.example.com", []string{"7:3 a.example.com   1", "10:24 a.example.com  spec 1", "11:11 a.example.com  spec 2"}},

	{"several versions", header + `
schemas:
- crd: a.example.com
  versions: [v1, v1beta1]
  path: spec.rules[*].filter
  x-kubernetes-unions:
  - members: [x, w]
- crd: a.example.com
  versions: [v1alpha1]
  path: spec.rules[*].filter
  x-kubernetes-unions:
  - members: [x]
`, "a.example.com", []string{
		"9:3 a.example.com v1 spec.rules[*].filter 1",
		"9:3 a.example.com v1beta1 spec.rules[*].filter 1",
		"14:3 a.example.com v1alpha1 spec.rules[*].filter 1",
	}},

	{"kinds", header + `
schemas:
- group: apps
  kind: Deployment
  versions: [v1]
  path: spec.strategy
  x-kubernetes-unions: [{members: [x, w]}]
- kind: Pod
  path: spec.volumes[*]
  extend: [{ratchet: true}]
- group: ""
  kind: Service
`, "Deployment.apps Pod Service", []string{"9:24 Deployment.apps v1 spec.strategy 1", "12:11 Pod  spec.volumes[*] 1"}},

	{"all keys of a union", header + `
schemas:
- crd: a.example.com
  path: spec['a.b']
  x-kubernetes-unions:
  - discriminator: type
    fields-to-discriminateBy:
      http: HTTP
      tcp: [TCP, TLS]
    deduceInvalidDiscriminator: true
    name: backend
    cardinality: AtMostOne
    optionalMembers: [tcp]
    emptyIsUnset: [http]
    unmappedValues: Forbid
    allowedChanges: {HTTP: [TCP, ""], TCP: HTTP}
    ratchet: true
    handWrittenRules: Replace
    message: {required: a, forbidden: b, changed: c}
    messages: {type: no such type, http: {required: set http}}
  - message: one of a, b
    members: [a, b]
    cardinality: ExactlyOne
    discriminatorChange: Forbid
`, "a.example.com", []string{"8:3 a.example.com  spec['a.b'] 2"}},

	{"values of several members, and of none yet", header + `
schemas:
- crd: a.example.com
  path: spec
  x-kubernetes-unions:
  - discriminator: type
    fields-to-discriminateBy: {http: [HTTP, HTTPS, Auto], tls: [HTTPS, Auto]}
    optionalMembers: {tls: Auto, http: [HTTPS, Auto]}
  - discriminator: mode
    fields-to-discriminateBy: {}
- crd: a.example.com
  path: status
  extend:
  - {union: type, optionalMembers: {tls: Auto}}
  - {union: mode, fields-to-discriminateBy: {}}
`, "a.example.com", []string{"8:3 a.example.com  spec 2", "16:3 a.example.com  status 2"}},

	{"none any more", header + "schemas:\n- crd: a.example.com\n- {crd: b.example.com}\n", "a.example.com b.example.com", nil},

	{"no schemas", header + "schemas: []\n", "", nil},

	{"metadata of other tools", header + "metadata:\n  annotations: {config.kubernetes.io/index: '0'}\n  labels: {}\nschemas: []\n", "", nil},

	{"documents", "# a comment\n---\n" + header + "schemas:\n- crd: a.example.com\n---\n---\n" +
		header + "schemas:\n- crd: b.example.com\n  x-kubernetes-unions: [{members: [x, w]}]\n...\n", "a.example.com b.example.com",
		[]string{"13:24 b.example.com   1"}},

	{"JSON", `{"apiVersion": "unioncel.dev/v1alpha1", "kind": "UnionSet", "schemas": [{"crd": "a.example.com", "x-kubernetes-unions": [{"members": ["x"]}]}]}`,
		"a.example.com", []string{"1:121 a.example.com   1"}},

	{"aliases and merges", header + `
schemas:
- &first
  crd: a.example.com
  versions: [v1]
  path: spec
  x-kubernetes-unions: &unions
  - &u {members: [x, w]}
  - {<<: *u, name: again}
- <<: *first
  versions: [v2]
- crd: b.example.com
  x-kubernetes-unions: *unions
`, "a.example.com b.example.com", []string{
		"9:24 a.example.com v1 spec 2", "9:24 a.example.com v2 spec 2", "9:24 b.example.com   2",
	}},

	{"quoted", strings.ReplaceAll(header, "UnionSet", `"UnionSet"`) + "\"schemas\": [{'crd': 'a.example.com', 'path': \"spec\", x-kubernetes-unions: [{members: ['on', \"y\"]}]}]\n",
		"a.example.com", []string{"3:75 a.example.com  spec 1"}},
}

func TestParseUnionSet(t *testing.T) {
	for _, test := range good {
		t.Run(test.name, func(t *testing.T) {
			set, diags := declared.ParseUnionSet("f.yaml", []byte(test.text))
			if len(diags) > 0 || set == nil {
				t.Fatal(diags)
			}
			var got []string
			for _, e := range set.Declarations {
				at, _ := strings.CutPrefix(e.Pos().String(), "f.yaml:")
				got = append(got, fmt.Sprintf("%s %s %s %s %d", at, e.Target, e.Version, e.Path, len(e.Value.Content)))
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
			var targets []string
			for _, c := range set.Scopes {
				targets = append(targets, c.Target.String())
			}
			if got := strings.Join(targets, " "); got != test.targets {
				t.Errorf("targets %q", got)
			}
		})
	}
}

// bad are files with their diagnostics: position, code, message and hint. schema marks files that
// the JSON Schema accepts.
var bad = []struct {
	name, text string
	want       []string
	schema     bool
}{
	{name: "typo in a union", text: header + `schemas:
- crd: a.example.com
  x-kubernetes-unions:
  - descriminator: type
    fields-to-discriminateBy: {s3: S3}
`, want: []string{`6:5: error: UC201: unknown key "descriminator" in a union declaration; write "discriminator"`}},

	{name: "wrong types in a union", text: header + `schemas:
- crd: a.example.com
  x-kubernetes-unions:
  - members: a
    cardinality: exactlyOne
    ratchet: yes
`, want: []string{
		`6:14: error: UC202: members: want a list, not "a"; write it like members: [a, b]`,
		`7:18: error: UC202: cardinality must be one of AtLeastOne, AtMostOne, ExactlyOne; write "ExactlyOne"`,
		`8:14: error: UC202: ratchet: want true or false, not "yes"; write it like ratchet: true`,
	}},

	{name: "empty message", text: header + "schemas:\n- crd: a.example.com\n  x-kubernetes-unions: [{members: [a, b], message: ''}]\n", want: []string{
		`5:52: error: UC202: the text is empty; write a text, or delete the key`,
	}},
	{name: "message of two lines", text: header + "schemas:\n- crd: a.example.com\n  extend: [{message: \"a\\nb\"}]\n", want: []string{
		`5:22: error: UC202: the text has a line break, which the API server rejects; write it on one line, or fold it with >-`,
	}},
	{name: "wrong messages", text: header + "schemas:\n- crd: a.example.com\n  extend: [{messages: {a: {changed: x}}}]\n", want: []string{
		`5:28: error: UC201: unknown key "changed" in a map of texts; the keys are required, forbidden`,
	}},

	{name: "wrong optionalMembers", text: header + "schemas:\n- crd: a.example.com\n  x-kubernetes-unions:\n  - {discriminator: type, fields-to-discriminateBy: {a: A}, optionalMembers: a}\n  extend:\n  - {optionalMembers: {a: {A: true}}}\n", want: []string{
		`6:78: error: UC202: optionalMembers: want a list of strings, not "a"; write it like optionalMembers: [tcp]`,
		`8:27: error: UC202: optionalMembers: want a string or a list of strings, not a mapping; write it like optionalMembers: [tcp]`,
	}},
	{name: "empty list of unions", text: header + "schemas: [{crd: a.example.com, x-kubernetes-unions: []}]\n", want: []string{
		`3:53: error: UC202: x-kubernetes-unions must be a list of unions, not an empty list; write a list with one item per union, or delete the key`}},

	{name: "typos in keys", text: header + "metdata: {}\nschemas:\n- crd: a.example.com\n  version: [v1]\n  x-kubernetes-union: []\n  discriminator: type\n  foo: bar\n", want: []string{
		`3:1: error: UC701: unknown key "metdata" in a UnionSet; write "metadata"`,
		`6:3: error: UC701: unknown key "version" in an item of schemas; write "versions"`,
		`7:3: error: UC701: unknown key "x-kubernetes-union" in an item of schemas; write "x-kubernetes-unions"`,
		`8:3: error: UC701: unknown key "discriminator" in an item of schemas; put it into an item of x-kubernetes-unions`,
		`9:3: error: UC701: unknown key "foo" in an item of schemas; the keys are crd, group, kind, versions, path, x-kubernetes-unions, extend`,
	}},

	{name: "key that is no string", text: header + "schemas:\n- crd: a.example.com\n  ? [a]\n  : b\n", schema: true, want: []string{
		`1:1: error: UC101: kubectl cannot read this document: `}},

	{name: "key that is an alias", text: header + "metadata: {name: &x path}\nschemas:\n- crd: a.example.com\n  *x : spec\n", want: []string{
		`6:3: error: UC701: want a string as key, not an alias; write the key out`}},

	{name: "not a mapping", text: "- a # unioncel.dev/\n", want: []string{
		`1:1: error: UC701: want a UnionSet, not a list; write apiVersion: unioncel.dev/v1alpha1 and kind: UnionSet`}},
	{name: "none of ours", text: "root:x:0:0\npassword: &a a\nb: *c\n", schema: true, want: []string{
		`error: UC701: this is not a UnionSet: it has no apiVersion: unioncel.dev/v1alpha1; write apiVersion: unioncel.dev/v1alpha1 and kind: UnionSet; CRDs are arguments`}},
	{name: "null", text: "~ # unioncel.dev/\n", want: []string{
		`1:1: error: UC701: want a UnionSet, not null; write apiVersion: unioncel.dev/v1alpha1 and kind: UnionSet`}},
	{name: "no kind", text: "apiVersion: unioncel.dev/v1alpha1\nschemas: []\n", want: []string{
		`1:1: error: UC701: kind is missing; write apiVersion: unioncel.dev/v1alpha1 and kind: UnionSet`}},
	{name: "no apiVersion", text: "kind: UnionSet # unioncel.dev/\nschemas: []\n", want: []string{
		`1:1: error: UC701: apiVersion is missing; write apiVersion: unioncel.dev/v1alpha1 and kind: UnionSet`}},
	{name: "kind of the wrong type", text: "apiVersion: unioncel.dev/v1alpha1\nkind: [UnionSet]\nschemas: []\n", want: []string{
		`2:7: error: UC701: kind: want a string, not a list; write it like kind: UnionSet`}},
	{name: "compiled CRD", text: "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {annotations: {unioncel.dev/unions: x}}\n", want: []string{
		`2:7: error: UC701: kind must be UnionSet, not "CustomResourceDefinition"; give CRDs as arguments`}},
	{name: "other kind", text: "apiVersion: v1\nkind: List\nitems: [] # unioncel.dev/\n", want: []string{
		`2:7: error: UC701: kind must be UnionSet, not "List"; write apiVersion: unioncel.dev/v1alpha1 and kind: UnionSet`}},
	{name: "later version", text: "apiVersion: unioncel.dev/v1\nkind: UnionSet\nschemas: []\n", want: []string{
		`1:13: error: UC701: apiVersion must be unioncel.dev/v1alpha1, not "unioncel.dev/v1"; write apiVersion: unioncel.dev/v1alpha1 and kind: UnionSet`}},

	{name: "no schemas", text: header, want: []string{
		`1:1: error: UC701: this UnionSet has no schemas; list the schemas with unions: schemas: [{crd: backups.example.com, path: spec, x-kubernetes-unions: [...]}]`}},
	{name: "schemas by name", text: header + "schemas:\n  a.example.com: {}\n", want: []string{
		`4:3: error: UC701: schemas: want a list, not a mapping; write it like schemas: [{crd: backups.example.com, path: spec, x-kubernetes-unions: [...]}]`}},
	{name: "schema is a string", text: header + "schemas: [a.example.com]\n", want: []string{
		`3:11: error: UC701: an item of schemas must be a mapping, not "a.example.com"; its keys are crd, group, kind, versions, path, x-kubernetes-unions, extend`}},
	{name: "metadata is a string", text: header + "metadata: backups\nschemas: []\n", want: []string{
		`3:11: error: UC701: metadata: want a mapping, not "backups"; write it like metadata: {name: backups}`}},
	{name: "name is a list", text: header + "metadata: {name: [a]}\nschemas: []\n", want: []string{
		`3:18: error: UC701: name: want a string, not a list; write it like name: unions`}},

	{name: "no crd", text: header + "schemas:\n- path: spec\n  x-kubernetes-unions: [{members: [x, w]}]\n", want: []string{
		`4:3: error: UC701: this item of schemas has no crd; write the name of the CRD, such as crd: backups.example.com, or the group and the kind`}},
	{name: "kinds", text: header + "schemas:\n- {crd: a.example.com, kind: A}\n- group: apps\n- {group: No Group, kind: 1a}\n- {kind: Pod, path: spec}\n", want: []string{
		`4:9: error: UC701: this item of schemas has both crd and the name of a kind; keep either`,
		`5:3: error: UC701: this item of schemas has a group, and no kind; add a kind, such as kind: Deployment`,
		`6:11: error: UC701: "No Group" is not the name of a group; write it as in apiVersion, without the version: apps`,
		`6:27: error: UC701: "1a" is not the name of a kind; write it as in objects: Deployment`,
		`7:3: error: UC701: this item of schemas has neither x-kubernetes-unions nor extend; declare unions, or write no more than group and kind of Pod to say that it has none`,
	}},
	{name: "kinds twice", schema: true, text: header + "schemas:\n- kind: Node\n- kind: Node\n", want: []string{
		`5:3: error: UC701: Node is listed twice as having no unions; delete one of them (4:3)`,
	}},
	{name: "crd is null", text: header + "schemas:\n- crd:\n", want: []string{
		`4:7: error: UC701: crd: want a string, not null; write it like crd: backups.example.com`}},
	{name: "crd is a kind", text: header + "schemas:\n- crd: Backup\n- crd: backups\n- crd: Backups.example.com\n", want: []string{
		`4:8: error: UC701: "Backup" is not the name of a CRD; names of CRDs are in lower case: the plural and the group, as kubectl get crd prints them`,
		`5:8: error: UC701: "backups" is not the name of a CRD; write plural and group, as kubectl get crd prints them: backups.example.com`,
		`6:8: error: UC701: "Backups.example.com" is not the name of a CRD; names of CRDs are in lower case: the plural and the group, as kubectl get crd prints them`,
	}},
	{name: "ambiguous scalars", text: header + "schemas:\n- crd: a.example.com\n  versions: [1, on]\n  path: yes\n  x-kubernetes-unions: [{members: [y, z]}]\n", schema: true, want: []string{
		`5:14: error: UC105: kubectl reads 1 as the number 1; quote it: "1"`,
		`5:17: error: UC105: kubectl reads on as the boolean true; quote it: "on"`,
		`6:9: error: UC105: kubectl reads yes as the boolean true; quote it: "yes"`,
		`7:36: error: UC105: kubectl reads y as the boolean true; quote it: "y"`,
	}},
	{name: "no unions", text: header + "schemas:\n- crd: a.example.com\n  path: spec\n- crd: b.example.com\n  versions: [v1]\n", want: []string{
		`4:3: error: UC701: this item of schemas has neither x-kubernetes-unions nor extend; declare unions, or write no more than crd: a.example.com to say that it has none`,
		`6:3: error: UC701: this item of schemas has neither x-kubernetes-unions nor extend; declare unions, or write no more than crd: b.example.com to say that it has none`,
	}},
	{name: "extensions", text: header + "schemas:\n- crd: a.example.com\n  extend: []\n- crd: b.example.com\n  extend: [{union: x}, {}, {ratchet: maybe}, {ratchett: true}]\n", want: []string{
		`5:11: error: UC202: want a list of extensions, not an empty list; write it like [{union: backend, ratchet: true}]`,
		`7:12: error: UC202: the extension has no key of a declaration; write it like {union: backend, ratchet: true}`,
		`7:24: error: UC202: the extension has no key of a declaration; write it like {union: backend, ratchet: true}`,
		`7:38: error: UC202: ratchet: want true or false, not "maybe"; write it like ratchet: true`,
		`7:47: error: UC201: unknown key "ratchett" in a union declaration; write "ratchet"`,
	}},
	{name: "extended twice", schema: true, text: header + "schemas:\n- crd: a.example.com\n  extend: [{ratchet: true}]\n- crd: a.example.com\n  versions: [v1]\n  extend: [{ratchet: true}]\n", want: []string{
		`6:3: error: UC701: the root of a.example.com has unions twice in version v1: an item without versions is for all of them; put all unions of one schema into one list (4:3)`,
	}},
	{name: "one version", text: header + "schemas:\n- crd: a.example.com\n  versions: v1\n  x-kubernetes-unions: [{members: [x, w]}]\n", want: []string{
		`5:13: error: UC701: versions: want a list, not "v1"; write it like versions: [v1]`}},
	{name: "no version", text: header + "schemas:\n- crd: a.example.com\n  versions: []\n  x-kubernetes-unions: [{members: [x, w]}]\n", want: []string{
		`5:13: error: UC701: versions is empty; name versions, or leave the key out for all of them`}},
	{name: "version with group", text: header + "schemas:\n- crd: a.example.com\n  versions: [example.com/v1]\n  x-kubernetes-unions: [{members: [x, w]}]\n", want: []string{
		`5:14: error: UC701: "example.com/v1" is not the name of a version; write the name of a version, without the group: v1`}},
	{name: "version twice", text: header + "schemas:\n- crd: a.example.com\n  versions: [v1, v1]\n  x-kubernetes-unions: [{members: [x, w]}]\n", want: []string{
		`5:18: error: UC701: version v1 is listed twice; delete one of them`}},
	{name: "bad path", text: header + "schemas:\n- crd: a.example.com\n  path: spec.rules[0]\n  x-kubernetes-unions: [{members: [x, w]}]\n", want: []string{
		`5:9: error: UC701: path "spec.rules[0]": a path leads to a schema, which all elements have in common: write [*]; write it like spec.storage, spec.rules[*].filter or spec['a.b']; the root is empty`}},
	{name: "path is a list", text: header + "schemas:\n- crd: a.example.com\n  path: [spec]\n  x-kubernetes-unions: [{members: [x, w]}]\n", want: []string{
		`5:9: error: UC701: path: want a string, not a list; write it like path: spec.storage`}},

	{name: "same schema twice", text: header + `schemas:
- {crd: a.example.com, path: spec, x-kubernetes-unions: [{members: [x, w]}]}
- {crd: a.example.com, path: "['spec']", x-kubernetes-unions: [{members: [p, q]}]}
- {crd: b.example.com, versions: [v1, v2], x-kubernetes-unions: [{members: [x, w]}]}
- {crd: b.example.com, versions: [v2], x-kubernetes-unions: [{members: [x, w]}]}
- {crd: c.example.com, versions: [v1], path: spec, x-kubernetes-unions: [{members: [x, w]}]}
---
` + header + `schemas:
- {crd: c.example.com, path: spec, x-kubernetes-unions: [{members: [x, w]}]}
`, schema: true, want: []string{
		`5:3: error: UC701: spec of a.example.com has unions twice; put all unions of one schema into one list (4:3)`,
		`7:3: error: UC701: the root of b.example.com has unions twice in version v2; put all unions of one schema into one list (6:3)`,
		`13:3: error: UC701: spec of c.example.com has unions twice in version v1: an item without versions is for all of them; put all unions of one schema into one list (8:3)`,
	}},
	{name: "unions and none", text: header + `schemas:
- {crd: a.example.com, path: spec, x-kubernetes-unions: [{members: [x, w]}]}
- {crd: a.example.com}
- {crd: b.example.com}
- {crd: b.example.com}
`, schema: true, want: []string{
		`5:3: error: UC701: a.example.com is listed both with and without unions; delete the item without unions (4:3)`,
		`7:3: error: UC701: b.example.com is listed twice as having no unions; delete one of them (6:3)`,
	}},

	{name: "empty", text: "", schema: true, want: []string{"error: UC103: the file is empty"}},
	{name: "comments only", text: "# unioncel.dev/\n---\n", schema: true, want: []string{"error: UC103: the file is empty"}},
	{name: "syntax", text: header + "schemas: [\n", schema: true, want: []string{"3:10: error: UC101: did not find expected node content"}},
	{name: "not UTF-8", text: header + "# Größe \xe9\n", schema: true, want: []string{"3:9: error: UC102: byte 0xe9 is not UTF-8; save the file as UTF-8"}},
	{name: "duplicate keys", text: header + "schemas:\n- crd: a.example.com\n  crd: b.example.com\n", schema: true, want: []string{
		`5:3: error: UC104: key "crd" occurs twice in this mapping; delete one of them`}},
	{name: "merge of a string", text: header + "schemas: [{<<: x, crd: a.example.com}]\n", schema: true, want: []string{
		"1:1: error: UC101: kubectl cannot read this document: yaml: map merge requires map or sequence of maps as the value"}},
}

func TestParseUnionSetErrors(t *testing.T) {
	for _, test := range bad {
		t.Run(test.name, func(t *testing.T) {
			set, diags := declared.ParseUnionSet("f.yaml", []byte(test.text))
			if set != nil {
				t.Errorf("%+v", set)
			}
			var got []string
			for _, d := range diags {
				line := strings.TrimPrefix(strings.TrimPrefix(d.String(), "f.yaml:"), " ")
				if d.Hint != "" {
					line += "; " + d.Hint
				}
				for _, r := range d.Related {
					line += fmt.Sprintf(" (%d:%d)", r.Pos.Line, r.Pos.Col)
				}
				got = append(got, line)
			}
			if !slices.EqualFunc(got, test.want, func(got, want string) bool {
				return got == want || strings.HasSuffix(want, " ") && strings.HasPrefix(got, want)
			}) {
				t.Error(cmp.Diff(test.want, got))
			}
		})
	}
}

// FuzzParse asserts that any input has a result or an error, and that every diagnostic is about the
// file.
func FuzzParse(f *testing.F) {
	for _, test := range good {
		f.Add([]byte(test.text))
	}
	for _, test := range bad {
		f.Add([]byte(test.text))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		set, diags := declared.ParseUnionSet("f.yaml", src)
		if (set == nil) != diags.HasErrors() {
			t.Fatalf("%v, %v", set, diags)
		}
		for _, d := range diags {
			if d.Pos.File != "f.yaml" || d.Pos.Line < 0 || d.Severity != diag.Error {
				t.Errorf("%#v", d)
			}
		}
	})
}
