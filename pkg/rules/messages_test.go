package rules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/rules"
)

// TestMessages asserts the errors as the API server prints them below the union object.
func TestMessages(t *testing.T) {
	const (
		backend = "discriminator: type, fields-to-discriminateBy: {http: HTTP, tcp: [TCP, TLS], udp: UDP}"
		source  = "members: [git, image, oci]"
	)
	schema := schemaOf(t, `{type: object, properties: {type: {type: string, nullable: true},
		http: {type: object}, tcp: {type: object}, udp: {type: object},
		git: {type: object}, image: {type: object}, oci: {type: object}}}`)
	tests := []struct {
		name, declaration string
		encoding          rules.Encoding
		old, new          string // union objects; no old object at creation
		want              []string
	}{
		{"fine: other member", backend, rules.Fine, "", "{type: HTTP, http: {}, tcp: {}}",
			[]string{"tcp: Forbidden: tcp may only be set when type is 'TCP' or 'TLS'"}},
		{"fine: member missing", backend, rules.Fine, "", "{type: TLS}",
			[]string{"tcp: Required value: tcp is required when type is 'TCP' or 'TLS'"}},
		{"fine: no type", backend, rules.Fine, "", "{udp: {}}",
			[]string{"udp: Forbidden: udp may only be set when type is 'UDP'"}},
		{"fine: must be set", backend + ", cardinality: ExactlyOne", rules.Fine, "", "{}",
			[]string{"type: Required value: type must be set"}},
		{"fine: must be set to", backend + ", cardinality: ExactlyOne, unmappedValues: Forbid", rules.Fine, "", "{type: ''}",
			[]string{"type: Required value: type must be set to 'HTTP', 'TCP', 'TLS' or 'UDP'"}},
		{"fine: unmapped", backend + ", unmappedValues: Forbid", rules.Fine, "", "{type: SCTP}",
			[]string{"type: Invalid value: type must be 'HTTP', 'TCP', 'TLS' or 'UDP'"}},
		{"fine: deduce", backend + ", deduceInvalidDiscriminator: true", rules.Fine, "", "{http: {}, tcp: {}}",
			[]string{"<nil>: Invalid value: at most one of http, tcp, udp may be set while type is unset"}},
		{"fine: deduce, other member", backend + ", deduceInvalidDiscriminator: true, name: backend", rules.Fine, "", "{type: HTTP, http: {}, udp: {}}",
			[]string{"udp: Forbidden: backend: udp may only be set when type is 'UDP' or unset"}},
		{"fine: at most one", source, rules.Fine, "", "{git: {}, image: {}}",
			[]string{"image: Forbidden: at most one of git, image, oci may be set"}},
		{"fine: all", source + ", name: source", rules.Fine, "", "{git: {}, image: {}, oci: {}}",
			[]string{
				"git: Forbidden: source: at most one of git, image, oci may be set",
				"image: Forbidden: source: at most one of git, image, oci may be set",
				"oci: Forbidden: source: at most one of git, image, oci may be set",
			}},
		{"fine: none", source + ", cardinality: ExactlyOne", rules.Fine, "", "{}",
			[]string{"<nil>: Required value: exactly one of git, image, oci must be set"}},
		{"fine: at least one", source + ", cardinality: AtLeastOne", rules.Fine, "", "{}",
			[]string{"<nil>: Required value: at least one of git, image, oci must be set"}},

		{"paired: other member", backend, rules.Paired, "", "{type: HTTP, http: {}, tcp: {}}",
			[]string{"tcp: Invalid value: tcp is required when type is 'TCP' or 'TLS', and forbidden otherwise"}},
		{"paired: member missing", backend + ", name: backend", rules.Paired, "", "{type: UDP}",
			[]string{"udp: Invalid value: backend: udp is required when type is 'UDP', and forbidden otherwise"}},
		{"paired: optional", backend + ", optionalMembers: [udp]", rules.Paired, "", "{udp: {}}",
			[]string{"udp: Forbidden: udp may only be set when type is 'UDP'"}},
		{"paired: deduce", backend + ", deduceInvalidDiscriminator: true", rules.Paired, "", "{type: UDP, http: {}}",
			[]string{
				"http: Invalid value: http is required when type is 'HTTP', and forbidden when type has another value",
				"udp: Invalid value: udp is required when type is 'UDP', and forbidden when type has another value",
			}},
		{"paired: at most one", source, rules.Paired, "", "{git: {}, image: {}}",
			[]string{"<nil>: Invalid value: at most one of git, image, oci may be set"}},
		{"compact: other member", backend, rules.Compact, "", "{type: HTTP, http: {}, tcp: {}}",
			[]string{"<nil>: Invalid value: tcp may only be set when type is 'TCP' or 'TLS'"}},
		{"compact: member missing", backend + ", name: backend", rules.Compact, "", "{type: TLS}",
			[]string{"<nil>: Invalid value: backend: tcp is required when type is 'TCP' or 'TLS'"}},
		{"compact: must be set", backend + ", cardinality: ExactlyOne", rules.Compact, "", "{tcp: {}}",
			[]string{"<nil>: Invalid value: type must be set"}},
		{"compact: unmapped", backend + ", unmappedValues: Forbid", rules.Compact, "", "{type: SCTP}",
			[]string{"<nil>: Invalid value: type must be 'HTTP', 'TCP', 'TLS' or 'UDP'"}},
		{"compact: deduce", backend + ", deduceInvalidDiscriminator: true", rules.Compact, "", "{http: {}, tcp: {}}",
			[]string{"<nil>: Invalid value: at most one of http, tcp, udp may be set while type is unset"}},
		{"compact: at most one", source, rules.Compact, "", "{git: {}, oci: {}}",
			[]string{"<nil>: Invalid value: at most one of git, image, oci may be set, found: git, oci"}},
		{"compact: none", source + ", cardinality: ExactlyOne, name: source", rules.Compact, "", "{}",
			[]string{"<nil>: Invalid value: source: exactly one of git, image, oci must be set"}},
		{"ratchet", source + ", ratchet: true", rules.Fine, "{git: {}}", "{git: {}, oci: {}}",
			[]string{"<nil>: Invalid value: at most one of git, image, oci may be set, found: git, oci"}},

		{"clear", backend, rules.Fine, "{type: HTTP, http: {}}", "{type: TCP, http: {}, tcp: {}}",
			[]string{"http: Forbidden: http may only be set when type is 'HTTP'", "type: Invalid value: when type changes, the member of its old value must be cleared"}},
		{"clear, from unset", backend + ", name: backend", rules.Compact, "{udp: {}, http: {}}", "{type: TCP, http: {}, tcp: {}, udp: {}}",
			[]string{"<nil>: Invalid value: backend: http may only be set when type is 'HTTP'"}},
		{"clear, to unset", backend, rules.Compact, "{type: UDP, udp: {}}", "{udp: {}}",
			[]string{"<nil>: Invalid value: udp may only be set when type is 'UDP'", "type: Invalid value: when type changes, the member of its old value must be cleared"}},
		{"clear, deduced", backend + ", deduceInvalidDiscriminator: true", rules.Compact, "{udp: {}}", "{udp: {}, http: {}}",
			[]string{"<nil>: Invalid value: at most one of http, tcp, udp may be set while type is unset"}},
		{"clear, without discriminator", source + ", name: source, discriminatorChange: Clear", rules.Fine, "{git: {}}", "{git: {}, image: {}, oci: {}}",
			[]string{
				"git: Forbidden: source: at most one of git, image, oci may be set",
				"image: Forbidden: source: at most one of git, image, oci may be set",
				"oci: Forbidden: source: at most one of git, image, oci may be set",
				"<nil>: Invalid value: source: when one of git, image, oci is newly set, the one set before must be cleared",
			}},
		{"forbid", backend + ", discriminatorChange: Forbid", rules.Fine, "{type: HTTP, http: {}}", "{type: UDP, udp: {}}",
			[]string{"type: Forbidden: type may not change from 'HTTP' to 'UDP'"}},
		{"forbid to unset", backend + ", discriminatorChange: Forbid", rules.Fine, "{type: HTTP, http: {}}", "{type: null}",
			[]string{"type: Forbidden: type may not change from 'HTTP' to unset"}},
		{"forbid, deduced", backend + ", discriminatorChange: Forbid, deduceInvalidDiscriminator: true", rules.Fine, "{http: {}}", "{udp: {}}",
			[]string{"type: Forbidden: type may not change from 'HTTP' to 'UDP'"}},
		{"table", backend + ", allowedChanges: {HTTP: [TCP, ''], UDP: TCP, TCP: []}", rules.Fine, "{type: HTTP, http: {}}", "{type: UDP, udp: {}}",
			[]string{"type: Forbidden: type may not change from 'HTTP' to 'UDP'; allowed are 'HTTP' to 'TCP', unset; 'UDP' to 'TCP'"}},
		{"empty table", backend + ", allowedChanges: {}", rules.Fine, "{type: HTTP, http: {}}", "{type: UDP, udp: {}}",
			[]string{"type: Forbidden: type may not change from 'HTTP' to 'UDP'; no change is allowed"}},
		{"forbid, without discriminator", source + ", discriminatorChange: Forbid", rules.Fine, "{git: {}}", "{image: {}}",
			[]string{"<nil>: Forbidden: the member set may not be switched or unset"}},
		{"forbid unset, without discriminator", source + ", discriminatorChange: Forbid, name: source", rules.Fine, "{git: {}}", "{}",
			[]string{"<nil>: Forbidden: source: the member set may not be switched or unset"}},
		{"table, without discriminator", source + ", allowedChanges: {git: [oci, ''], oci: git}", rules.Fine, "{oci: {}}", "{image: {}}",
			[]string{"<nil>: Forbidden: the member set may not change like this; allowed are 'git' to 'oci', unset; 'oci' to 'git'"}},

		{"declared: at most one", source + ", name: source, message: one source", rules.Paired, "", "{git: {}, image: {}}", []string{"<nil>: Invalid value: one source"}},
		{"declared: compact, none", source + ", cardinality: ExactlyOne, message: one source", rules.Compact, "", "{}", []string{"<nil>: Invalid value: one source"}},
		{"declared: none of exactly one", source + ", cardinality: ExactlyOne, message: {required: no source}", rules.Paired, "", "{}", []string{"<nil>: Invalid value: no source"}},
		{"declared: two of exactly one", source + ", cardinality: ExactlyOne, message: {required: no source}", rules.Paired, "", "{git: {}, oci: {}}",
			[]string{"<nil>: Invalid value: exactly one of git, image, oci must be set"}},
		{"declared: compact, two of exactly one", source + ", cardinality: ExactlyOne, message: {required: no source}", rules.Compact, "", "{git: {}, oci: {}}",
			[]string{"<nil>: Invalid value: exactly one of git, image, oci must be set, found: git, oci"}},
		{"declared: two of at most one", source + ", message: {forbidden: too many}", rules.Compact, "", "{git: {}, oci: {}}", []string{"<nil>: Invalid value: too many"}},
		{"declared: fine", source + ", cardinality: ExactlyOne, message: {required: no source, forbidden: too many}", rules.Fine, "", "{git: {}, oci: {}}",
			[]string{"git: Forbidden: too many"}},
		{"declared: fine, none", source + ", cardinality: ExactlyOne, message: {required: no source, forbidden: too many}", rules.Fine, "", "{}",
			[]string{"<nil>: Required value: no source"}},
		{"declared: union", backend + ", message: one backend, messages: {udp: UDP}", rules.Paired, "{type: HTTP, http: {}}", "{type: UDP, http: {}}",
			[]string{"http: Invalid value: one backend", "udp: Invalid value: UDP", "type: Invalid value: when type changes, the member of its old value must be cleared"}},
		{"declared: both directions", backend + ", messages: {http: {required: set http, forbidden: drop http}}", rules.Paired, "", "{type: HTTP}", []string{"http: Invalid value: set http"}},
		{"declared: other direction", backend + ", messages: {http: {required: set http, forbidden: drop http}}", rules.Paired, "", "{http: {}}", []string{"http: Invalid value: drop http"}},
		{"declared: one direction", backend + ", messages: {http: {required: set http}}", rules.Paired, "", "{http: {}}", []string{"http: Invalid value: http may only be set when type is 'HTTP'"}},
		{"declared: compact", backend + ", message: {forbidden: drop it}, messages: {http: {required: set http}, udp: UDP}", rules.Compact, "", "{type: HTTP}", []string{"<nil>: Invalid value: set http"}},
		{"declared: compact, union", backend + ", message: {forbidden: drop it}, messages: {http: {required: set http}, udp: UDP}", rules.Compact, "", "{http: {}}", []string{"<nil>: Invalid value: drop it"}},
		{"declared: compact, generated", backend + ", message: {forbidden: drop it}, messages: {http: {required: set http}, udp: UDP}", rules.Compact, "", "{type: TCP}",
			[]string{"<nil>: Invalid value: tcp is required when type is 'TCP' or 'TLS'"}},
		{"declared: discriminator", backend + ", cardinality: ExactlyOne, unmappedValues: Forbid, messages: {type: {required: set type, forbidden: bad type}}", rules.Compact, "", "{}", []string{"<nil>: Invalid value: set type"}},
		{"declared: unmapped", backend + ", cardinality: ExactlyOne, unmappedValues: Forbid, messages: {type: {required: set type, forbidden: bad type}}", rules.Paired, "", "{type: SCTP}", []string{"type: Invalid value: bad type"}},
		{"declared: deduce", backend + ", deduceInvalidDiscriminator: true, message: {forbidden: too many}, messages: {http: x}", rules.Paired, "", "{http: {}, tcp: {}}", []string{"<nil>: Invalid value: too many"}},
		{"declared: ratchet", backend + ", ratchet: true, messages: {http: 'no ''http'' \\ here'}", rules.Fine, "{}", "{http: {}}", []string{`<nil>: Invalid value: no 'http' \ here`}},
		{"declared: clear", backend + ", message: {changed: clear the old one}", rules.Paired, "{type: HTTP, http: {}}", "{type: TCP, http: {}, tcp: {}}",
			[]string{"http: Invalid value: http is required when type is 'HTTP', and forbidden otherwise", "type: Invalid value: clear the old one"}},
		{"declared: forbid", backend + ", discriminatorChange: Forbid, message: {changed: type is immutable}", rules.Paired, "{type: HTTP, http: {}}", "{type: UDP, udp: {}}", []string{"type: Forbidden: type is immutable"}},
		{"declared: table, without discriminator", source + ", allowedChanges: {git: oci}, message: {changed: never}", rules.Paired, "{oci: {}}", "{image: {}}", []string{"<nil>: Forbidden: never"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			u := unionOf(t, "{"+tt.declaration+"}", schema)
			l := rules.Static(u, tt.encoding)
			l = append(l, rules.Transition(u, rules.Comparison{})...)
			compiled(t, structural(t, schema), l)
			var old, new map[string]any
			if tt.old != "" {
				decodeYAML(tt.old, &old)
			}
			decodeYAML(tt.new, &new)
			var got []string
			for _, f := range newServer(t, structural(t, schema), l).fails(t, old, new) {
				got = append(got, f.text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			for _, r := range l {
				if r.MessageExpression != "" && (strings.TrimSpace(r.Message) == "" || slices.Contains(got, r.Message)) {
					t.Errorf("fallback %q", r.Message)
				}
			}
		})
	}
}

// TestFallbackMessages asserts the messages that replace a messageExpression that fails or that the
// server does not support.
func TestFallbackMessages(t *testing.T) {
	schema := schemaOf(t, unioncases.Shape{Members: 3, Discriminated: true}.Schema())
	const backend = "{name: x, discriminator: type, fields-to-discriminateBy: {a: A, b: B, c: C}"
	tests := []struct{ declaration, want string }{
		{backend + "}", "x: when type changes, the member of its old value must be cleared"},
		{backend + ", discriminatorChange: Forbid}", "x: type may not be changed or unset once set"},
		{backend + ", allowedChanges: {A: [B, '']}}", "x: type may not change like this; allowed are 'A' to 'B', unset"},
		{"{members: [a, b], discriminatorChange: Clear}", "when one of a, b is newly set, the one set before must be cleared"},
		{"{members: [a, b], discriminatorChange: Forbid}", "the member set may not be switched or unset"},
		{"{members: [a, b], allowedChanges: {}}", "the member set may not change like this; no change is allowed"},
	}
	for _, tt := range tests {
		if l := rules.Transition(unionOf(t, tt.declaration, schema), rules.Comparison{}); len(l) != 1 || l[0].Message != tt.want {
			t.Errorf("%s: %v, want %q", tt.declaration, l, tt.want)
		}
	}
	const texts = backend + ", message: {required: set it}, messages: {a: A, b: {forbidden: B}}}"
	var got []string
	for _, r := range rules.Static(unionOf(t, texts, schema), rules.Paired) {
		got = append(got, r.Message)
	}
	if diff := cmp.Diff([]string{"A", "x: b is required when type is 'B', and forbidden otherwise", "x: c is required when type is 'C', and forbidden otherwise"}, got); diff != "" {
		t.Error(diff)
	}
	got = nil
	for _, r := range rules.Static(unionOf(t, backend+", message: one, messages: {a: {required: A}}}", schema), rules.Paired) {
		got = append(got, r.Message)
	}
	if diff := cmp.Diff([]string{"x: a is required when type is 'A', and forbidden otherwise", "one", "one"}, got); diff != "" {
		t.Error(diff)
	}
	for declaration, want := range map[string]string{
		texts: "x: only the member that type selects may be set, and it must be set",
		backend + ", message: one, messages: {a: A}}":   "x: only the member that type selects may be set, and it must be set",
		backend + ", message: one, messages: {a: one}}": "one",
		backend + "}":             "x: only the member that type selects may be set, and it must be set",
		"{members: [a, b, c]}":    "at most one of a, b, c may be set",
		"{members: [a], name: x}": "",
	} {
		got := ""
		if l := rules.Static(unionOf(t, declaration, schema), rules.Compact); len(l) > 0 {
			got = l[0].Message
		}
		if got != want {
			t.Errorf("%s: %q, want %q", declaration, got, want)
		}
	}
}

func TestTrim(t *testing.T) {
	all := rules.Rule{Rule: "true", Message: "m", MessageExpression: "'m'", Reason: rules.ReasonForbidden, FieldPath: ".a", OptionalOldSelf: true}
	tests := []struct {
		name     string
		features rules.Features
		want     rules.Rule
	}{
		{"all", rules.Features{MessageExpression: true, ReasonAndFieldPath: true, OptionalOldSelf: true}, all},
		{"1.27", rules.Features{MessageExpression: true}, rules.Rule{Rule: "true", Message: "m", MessageExpression: "'m'", OptionalOldSelf: true}},
		{"1.25", rules.Features{}, rules.Rule{Rule: "true", Message: "m", OptionalOldSelf: true}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, all.Trim(tt.features)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}
