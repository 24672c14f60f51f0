package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

func TestSentence(t *testing.T) {
	const backend = "discriminator: type, fields-to-discriminateBy: {http: HTTP, tcp: [TCP, TLS], udp: UDP}"
	schema := schemaOf(t, `{type: object, properties: {type: {type: string},
		http: {type: object}, tcp: {type: object}, udp: {type: object},
		git: {type: object}, image: {type: object}, oci: {type: object}, hostPath: {type: object}}}`)
	tests := []struct {
		name, declaration string
		covered           bool
		want              string
	}{
		{"all selected", backend + ", cardinality: ExactlyOne", true, "Exactly one of http, tcp ('TCP' or 'TLS') and udp must be set, the one that type selects."},
		{"other values", backend + ", cardinality: ExactlyOne", false, "At most one of http, tcp ('TCP' or 'TLS') and udp may be set, the one that type selects."},
		{"unset", backend, false, "At most one of http, tcp ('TCP' or 'TLS') and udp may be set, the one that type selects."},
		{"unset, else all selected", backend, true, "At most one of http, tcp ('TCP' or 'TLS') and udp may be set, the one that type selects."},
		{"optional", backend + ", optionalMembers: [udp]", false, "At most one of http, tcp ('TCP' or 'TLS') and udp may be set, the one that type selects."},
		{"optional for a value", backend + ", optionalMembers: {tcp: TLS}, cardinality: ExactlyOne", true,
			"At most one of http, tcp ('TCP' or 'TLS') and udp may be set, the one that type selects."},
		{"all optional", backend + ", optionalMembers: [http, tcp, udp]", false, "At most one of http, tcp ('TCP' or 'TLS') and udp may be set, the one that type selects."},
		{"names of values", "discriminator: type, fields-to-discriminateBy: {hostPath: HostPath, git: Repository}", false, "At most one of hostPath and git ('Repository') may be set, the one that type selects."},
		{"shared", "discriminator: type, fields-to-discriminateBy: {http: HTTP, tcp: [HTTP, TCP]}", false, "Of http and tcp ('HTTP' or 'TCP'), only those that type selects may be set."},
		{"deduced", "discriminator: type, fields-to-discriminateBy: {http: HTTP, udp: UDP}, deduceInvalidDiscriminator: true", false,
			"At most one of http and udp may be set, the one that type selects; while type is unset, any one may be."},
		{"one", "discriminator: type, fields-to-discriminateBy: {http: HTTP}", false, "http is required when type is 'HTTP', and forbidden otherwise."},
		{"one, set", "discriminator: type, fields-to-discriminateBy: {http: HTTP}, cardinality: ExactlyOne", true, "http is required when type is 'HTTP', and forbidden otherwise."},
		{"one, optional", "discriminator: type, fields-to-discriminateBy: {http: HTTP}, optionalMembers: [http]", false, "http may only be set when type is 'HTTP'."},
		{"one, deduced", "discriminator: type, fields-to-discriminateBy: {http: HTTP}, optionalMembers: [http], deduceInvalidDiscriminator: true", false, "http may only be set when type is 'HTTP' or unset."},
		{"none", "discriminator: type, fields-to-discriminateBy: {}", false, ""},
		{"hostile value", `discriminator: type, fields-to-discriminateBy: {http: "a: 'b' #\n", udp: UDP}`, false, `At most one of http ('a: 'b' #\n') and udp may be set, the one that type selects.`},

		{"at most one", "members: [git, image, oci]", false, "At most one of git, image and oci may be set."},
		{"exactly one", "members: [git, image], cardinality: ExactlyOne, name: source", false, "Exactly one of git and image must be set."},
		{"at least one", "members: [git, image, oci], cardinality: AtLeastOne", false, "At least one of git, image and oci must be set."},
		{"exactly one of one", "members: [git], cardinality: ExactlyOne", false, "git must be set."},
		{"at most one of one", "members: [git]", false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			u := unionOf(t, "{"+tt.declaration+"}", schema)
			if got := rules.Sentence(u, tt.covered); got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
}

// A long list of members is shortened, as in messages, and omits their values.
func TestLongSentence(t *testing.T) {
	u := &union.Union{Discriminator: "type", Cardinality: union.ExactlyOne, Change: union.Allow}
	for i := range 23 {
		u.Members = append(u.Members, union.Member{Name: fmt.Sprintf("m%d", i), Values: []string{fmt.Sprintf("v%d", i)}})
	}
	got := rules.Sentence(u, true)
	if want := ", m18, m19 and 3 more must be set, the one that type selects."; !strings.HasSuffix(got, want) || strings.Contains(got, "v1") {
		t.Errorf("%s\nwant ...%s", got, want)
	}
	u.Members = u.Members[:20]
	if got := rules.Sentence(u, true); !strings.HasSuffix(got, "m18 ('v18') and m19 ('v19') must be set, the one that type selects.") {
		t.Error(got)
	}
}
