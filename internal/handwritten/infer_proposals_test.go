package handwritten_test

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/handwritten"
	"github.com/unioncel/unioncel/internal/prove/verify"
)

// TestProposals asserts the unions proposed for schemas with rules, and their verdicts.
func TestProposals(t *testing.T) {
	const (
		strings2 = `properties: {a: {type: string}, b: {type: string}}`
		filled2  = `properties: {a: {type: string, minLength: 1}, b: {type: string, minLength: 1}}`
		lists2   = `properties: {a: {type: array, items: {type: string}}, b: {type: array, items: {type: string}}}`
		full2    = `properties: {a: {type: array, minItems: 1, items: {type: string}}, b: {type: array, minItems: 1, items: {type: string}}}`
	)
	const groups3 = `properties: {h: {type: string}, p: {type: integer}, u: {type: string}}`
	const (
		bools2   = `properties: {a: {type: boolean}, b: {type: boolean}}`
		numbers2 = `properties: {a: {type: integer}, b: {type: number}}`
	)
	const (
		enum     = `{properties: {type: {type: string, enum: [A, B, C]}, a: {type: string}, b: {type: string}}}`
		required = `{required: [type], properties: {type: {type: string, enum: [A, B, C]}, a: {type: string}, b: {type: string}}}`
		exposure = `{required: [type], properties: {type: {type: string, enum: [LoadBalancer, NodePort, None]}, service: {type: object}, pool: {type: object}, port: {type: object}}}`
	)
	const (
		child         = `properties: {c: {type: string}, in: {type: object, properties: {a: {type: string}, b: {type: string}}}}`
		requiredChild = `{required: [in], properties: {in: {type: object, properties: {a: {type: string}, b: {type: string}}}}}`
		typedChild    = `{required: [in], properties: {in: {type: object, required: [type], properties: {type: {type: string, enum: [A, B]}, a: {type: string}, b: {type: string}}}}}`
	)
	const (
		beside           = `other: {type: object, required: [type], properties: {type: {type: string}}}, a: {type: string}, b: {type: string}`
		platform         = `{properties: {platform: {type: object, required: [type], properties: {type: {type: string, enum: [A, B, C]}}}, ` + beside + `}}`
		requiredPlatform = `{required: [platform, other], properties: {platform: {type: object, required: [type], properties: {type: {type: string, enum: [A, B, C]}}}, ` + beside + `}}`
		optionalType     = `{properties: {platform: {type: object, properties: {type: {type: string, enum: [A, B, C]}}}, ` + beside + `}}`
		config           = `{required: [type], properties: {type: {type: string, enum: [A, B, C]}, c: {type: string}, config: {type: object, properties: {a: {type: string}, b: {type: string}}}}}`
	)
	for _, c := range []struct {
		name, schema string
		rules        []string
		want         string
	}{
		// Rules have many ways to test whether a string is empty.
		{`== ""`, strings2, []string{`!has(self.a) || self.a == "" || !has(self.b) || self.b == ""`},
			`{members: [a, b], cardinality: AtMostOne, emptyIsUnset: [a, b]} equivalent`},
		{`!= "", exactly one`, strings2, []string{`has(self.a) && self.a != "" ? !has(self.b) || self.b == "" : has(self.b) && self.b != ""`},
			`{members: [a, b], cardinality: ExactlyOne, emptyIsUnset: [a, b]} equivalent`},
		{`!= "", at least one`, strings2, []string{`(has(self.a) && self.a != "") || (has(self.b) && self.b != "")`},
			`{members: [a, b], cardinality: AtLeastOne, emptyIsUnset: [a, b]} equivalent`},
		{`!= "" with minLength`, filled2, []string{`has(self.a) && self.a != "" ? !has(self.b) || self.b == "" : has(self.b) && self.b != ""`},
			`{members: [a, b], cardinality: ExactlyOne} equivalent`},
		{`size()`, strings2, []string{`!(has(self.a) && size(self.a) > 0 && has(self.b) && self.b.size() > 0)`},
			`{members: [a, b], cardinality: AtMostOne, emptyIsUnset: [a, b]} equivalent`},
		{`size() with minLength`, filled2, []string{`!(has(self.a) && size(self.a) > 0 && has(self.b) && self.b.size() > 0)`},
			`{members: [a, b], cardinality: AtMostOne} equivalent`},
		{`size() of lists`, lists2, []string{`has(self.a) && size(self.a) > 0 || has(self.b) && self.b.size() != 0`},
			`{members: [a, b], cardinality: AtLeastOne, emptyIsUnset: [a, b]} equivalent`},
		{`size() of lists with minItems`, full2, []string{`has(self.a) && size(self.a) > 0 || has(self.b) && self.b.size() != 0`},
			`{members: [a, b], cardinality: AtLeastOne} equivalent`},
		{`orValue("")`, strings2, []string{`(self.?a.orValue("") != "") != (self.?b.orValue("") != "")`},
			`{members: [a, b], cardinality: ExactlyOne, emptyIsUnset: [a, b]} equivalent`},
		{`orValue("") with minLength`, filled2, []string{`(self.?a.orValue("") != "") != (self.?b.orValue("") != "")`},
			`{members: [a, b], cardinality: ExactlyOne} equivalent`},
		{`orValue("").size()`, strings2, []string{`self.?a.orValue("") != "" || self.?b.orValue("").size() != 0`},
			`{members: [a, b], cardinality: AtLeastOne, emptyIsUnset: [a, b]} equivalent`},
		{`one rule each way`, strings2, []string{`has(self.a) && self.a != "" || has(self.b) && self.b.size() != 0`, `!has(self.a) || self.a == "" || !has(self.b) || size(self.b) == 0`},
			`{members: [a, b], cardinality: ExactlyOne, emptyIsUnset: [a, b]} equivalent`},
		{`!= false`, bools2, []string{`!(has(self.a) && self.a != false && has(self.b) && self.b)`},
			`{members: [a, b], cardinality: AtMostOne, emptyIsUnset: [a, b]} equivalent`},
		{`orValue(false)`, bools2, []string{`self.?a.orValue(false) != self.?b.orValue(false)`},
			`{members: [a, b], cardinality: ExactlyOne, emptyIsUnset: [a, b]} equivalent`},
		{`!= 0`, numbers2, []string{`(has(self.a) && self.a != 0) || (has(self.b) && self.b != 0.0)`},
			`{members: [a, b], cardinality: AtLeastOne, emptyIsUnset: [a, b]} equivalent`},
		{`== of booleans`, bools2, []string{`!has(self.a) || !has(self.b) || self.a != self.b`}, ``},
		{`> 0, which is no test for 0`, numbers2, []string{`!(has(self.a) && self.a > 0 && has(self.b))`}, ``},
		{`of bytes`, `properties: {a: {type: string, format: byte}, b: {type: string}}`, []string{`!(has(self.a) && size(self.a) > 0 && has(self.b))`},
			`{members: [a, b], cardinality: AtMostOne} equivalent`},
		// Groups of properties that are set together.
		{`together, and exactly one`, groups3, []string{`has(self.h) == has(self.p)`, `[has(self.u), has(self.h)].exists_one(x, x)`},
			`{members: [[h, p], u], cardinality: ExactlyOne} equivalent`},
		{`a group in one conditional`, groups3, []string{`has(self.u) ? !has(self.h) && !has(self.p) : has(self.h) && has(self.p)`},
			`{members: [u, [h, p]], cardinality: ExactlyOne} equivalent`},
		{`a group, with implications`, groups3, []string{`!has(self.p) || has(self.h)`, `!(has(self.u) && has(self.h))`},
			`{members: [[h, p], u], cardinality: AtMostOne, optionalMembers: [p]} equivalent`},
		{`a group in an exclusive or`, groups3, []string{`has(self.u) != (has(self.h) || has(self.p))`, `has(self.h) == has(self.p)`},
			`{members: [u, [h, p]], cardinality: ExactlyOne} equivalent`},
		{`any of a group`, groups3, []string{`!(has(self.u) && (has(self.h) || has(self.p)))`},
			`{members: [u, [h, p]], cardinality: AtMostOne, optionalMembers: [h, p]} equivalent`},
		{`two groups`, `properties: {a: {type: string}, b: {type: string}, c: {type: string}, d: {type: string}}`, []string{
			`(has(self.a) && has(self.b) && !has(self.c) && !has(self.d)) || (!has(self.a) && !has(self.b) && has(self.c) && has(self.d))`},
			`{members: [[a, b], [c, d]], cardinality: ExactlyOne} equivalent`},
		{`a group in oneOf`, groups3, []string{`has(self.h) == has(self.p)`, `has(self.h) != has(self.u)`, `!has(self.p) || !has(self.u)`},
			`{members: [[h, p], u], cardinality: ExactlyOne} equivalent`},
		{`a chain of relations`, groups3, []string{`!has(self.p) || has(self.h)`, `!has(self.u) || has(self.p)`}, `{dependentRequired: {p: h, u: p}} equivalent`},
		{`of the discriminator, too`, `properties: {type: {type: string, enum: [A, B]}, a: {type: string}}`, []string{`self.?type.orValue("") == "A" ? self.?a.orValue("") != "" : self.?a.orValue("") == ""`},
			`{discriminator: type, fields-to-discriminateBy: {a: A}, emptyIsUnset: [a], discriminatorChange: Allow} equivalent`},

		// An enum provides the values that a rule does not name.
		{`!=, of a required enum`, required, []string{`self.type != 'A' || !has(self.a)`},
			`{discriminator: type, fields-to-discriminateBy: {a: [B, C]}, optionalMembers: [a], discriminatorChange: Allow} equivalent`},
		{`not with`, required, []string{`!(self.type == 'A' && has(self.a))`},
			`{discriminator: type, fields-to-discriminateBy: {a: [B, C]}, optionalMembers: [a], discriminatorChange: Allow} equivalent`},
		{`neither of two`, required, []string{`!(self.type in ['A', 'C'] && has(self.a))`},
			`{discriminator: type, fields-to-discriminateBy: {a: B}, optionalMembers: [a], discriminatorChange: Allow} equivalent`},
		{`each with one of two`, required, []string{`!(self.type != 'B' && has(self.b))`, `!(self.type == 'B' && has(self.a))`},
			`{discriminator: type, fields-to-discriminateBy: {b: B}, optionalMembers: [b], discriminatorChange: Allow} equivalent`},
		{`!=, of an optional enum`, enum, []string{`has(self.type) && self.type != 'A' || !has(self.a)`},
			`{discriminator: type, fields-to-discriminateBy: {a: [B, C]}, optionalMembers: [a], discriminatorChange: Allow} equivalent`},
		{`!=, where unset says nothing`, enum, []string{`!has(self.type) || self.type != 'A' || !has(self.a)`},
			`{discriminator: type, fields-to-discriminateBy: {a: [B, C]}, deduceInvalidDiscriminator: true, optionalMembers: [a], discriminatorChange: Allow} equivalent`},
		{`!=, without an enum`, `{required: [type], properties: {type: {type: string}, a: {type: string}}}`, []string{`self.type != 'A' || !has(self.a)`}, ``},
		{`!=, about something else, too`, required, []string{`self.type != 'A' || !has(self.a) || self.a == 'x'`}, ``},
		{`!=, of two that share values`, required, []string{`self.type != 'A' || !has(self.a)`, `self.type != 'A' || !has(self.b)`},
			`{discriminator: type, fields-to-discriminateBy: {a: [B, C], b: [B, C]}, optionalMembers: [a, b], discriminatorChange: Allow} equivalent`},
		{`!=, of two that share a value`, required, []string{`self.type != 'A' || !has(self.a)`, `!(self.type in ['A', 'B'] && has(self.b))`},
			`{discriminator: type, fields-to-discriminateBy: {a: [B, C], b: C}, optionalMembers: [a, b], discriminatorChange: Allow} equivalent`},
		{`!=, beside a union`, required, []string{`self.type == 'A' ? has(self.a) : !has(self.a)`, `self.type != 'A' || !has(self.b)`},
			`{discriminator: type, fields-to-discriminateBy: {a: A}, discriminatorChange: Allow} equivalent`},

		// A rule may have only one half of a union. A member's name tells whether the other half is meant.
		{`required, by its name`, required, []string{`self.type != 'A' || has(self.a)`},
			`{discriminator: type, fields-to-discriminateBy: {a: A}, discriminatorChange: Allow} tighter`},
		{`required, with another name`, required, []string{`self.type != 'C' || has(self.a)`},
			`{discriminator: type, fields-to-discriminateBy: {a: [A, B, C]}, optionalMembers: {a: [A, B]}, discriminatorChange: Allow} equivalent`},
		{`required with two values`, required, []string{`!(self.type in ['A', 'B']) || has(self.a)`},
			`{discriminator: type, fields-to-discriminateBy: {a: [A, B, C]}, optionalMembers: {a: C}, discriminatorChange: Allow} equivalent`},
		{`required, and free with five values`, `{required: [type], properties: {type: {type: string, enum: [A, B, C, D, E, F]}, a: {type: string}}}`,
			[]string{`self.type != 'F' || has(self.a)`}, ``},
		{`required, whatever the value`, required, []string{`has(self.type) && has(self.a)`}, ``},
		{`two excluded by a value, where unset says nothing`, `{properties: {type: {type: string, enum: [A, B]}, a: {type: string}, b: {type: string}}}`,
			[]string{`!(has(self.type) && self.type == 'B' && has(self.a))`, `!(has(self.type) && self.type == 'B' && has(self.b))`},
			`{discriminator: type, fields-to-discriminateBy: {a: A, b: A}, unset: A, optionalMembers: [a, b], discriminatorChange: Allow} equivalent`},
		{`one excluded and one required by a value`, required, []string{`self.type != 'C' || has(self.a) && !has(self.b)`},
			`{discriminator: type, fields-to-discriminateBy: {a: [A, B, C], b: [A, B]}, optionalMembers: {a: [A, B], b: [A, B]}, discriminatorChange: Allow} equivalent`},
		{`required, and two members`, required, []string{`self.type != 'A' || has(self.a)`, `self.type != 'B' || has(self.b)`},
			`{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, discriminatorChange: Allow} tighter`},
		{`forbidden otherwise`, required, []string{`self.type == 'A' || !has(self.a)`},
			`{discriminator: type, fields-to-discriminateBy: {a: A}, optionalMembers: [a], discriminatorChange: Allow} equivalent`},
		{`a union beside a plain rule`, required, []string{`self.type == 'A' ? has(self.a) : !has(self.a)`, `self.type != 'B' || has(self.b)`},
			`{discriminator: type, fields-to-discriminateBy: {a: A}, discriminatorChange: Allow} equivalent`},

		// Rules may be on an ancestor.
		{`of a child, guarded`, child, []string{`!has(self.__in__) || has(self.__in__.a) != has(self.__in__.b)`},
			`in: {members: [a, b], cardinality: ExactlyOne} equivalent`},
		{`of a required child`, requiredChild, []string{`has(self.__in__.a) != has(self.__in__.b)`},
			`in: {members: [a, b], cardinality: ExactlyOne} equivalent`},
		{`of a child, two rules`, child, []string{`!has(self.__in__) || !(has(self.__in__.a) && has(self.__in__.b))`, `has(self.__in__) ? has(self.__in__.a) || has(self.__in__.b) : true`},
			`in: {members: [a, b], cardinality: ExactlyOne} equivalent`},
		{`of a child with a discriminator`, typedChild, []string{`self.__in__.type == 'A' ? has(self.__in__.a) : !has(self.__in__.a)`, `self.__in__.type == 'B' || !has(self.__in__.b)`},
			`in: {discriminator: type, fields-to-discriminateBy: {a: A, b: B}, optionalMembers: [b], discriminatorChange: Allow} equivalent`},
		{`of a child that is demanded, too`, child, []string{`has(self.__in__.a) != has(self.__in__.b)`},
			`in: {members: [a, b], cardinality: ExactlyOne} looser: spec.in is absent`},
		{`of a child and something else`, child, []string{`!has(self.__in__) || !has(self.__in__.a) || !has(self.c)`}, `{dependentForbidden: {in.a: c}} equivalent`},
		{`of items, from the object with the list`, `properties: {in: {type: array, items: {type: object, properties: {a: {type: string}, b: {type: string}}}}}`, []string{`!has(self.__in__) || self.__in__.all(x, has(x.a) != has(x.b))`},
			`in[*]: {members: [a, b], cardinality: ExactlyOne} equivalent`},
		{`of items, from the list`, `properties: {in: {type: array, items: {type: object, required: [type], properties: {type: {type: string, enum: [A, B]}, a: {type: string}, b: {type: string}}}, x-kubernetes-validations: [{rule: "self.all(x, x.type == 'A' ? has(x.a) : !has(x.a))"}, {rule: "self.all(x, x.type == 'B' || !has(x.b))"}]}}`, nil,
			`in[*]: {discriminator: type, fields-to-discriminateBy: {a: A, b: B}, optionalMembers: [b], discriminatorChange: Allow} equivalent`},
		{`of items, from the items and the list`, `properties: {in: {type: array, items: {type: object, properties: {a: {type: string}, b: {type: string}}, x-kubernetes-validations: [{rule: has(self.a) || has(self.b)}]}, x-kubernetes-validations: [{rule: "self.all(x, !has(x.a) || !has(x.b))"}]}}`, nil,
			`in[*]: {members: [a, b], cardinality: AtLeastOne} inconclusive`},
		{`a chain of !=`, `properties: {a: {type: string}, b: {type: string}, c: {type: string}}`, []string{`has(self.a) != has(self.b) != has(self.c)`},
			`{members: [a, b, c], cardinality: ExactlyOne} tighter`},
		{`of items, and something else`, `properties: {in: {type: array, items: {type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}}}, x-kubernetes-validations: [{rule: "self.all(x, has(x.a) != has(x.b) || has(x.c) && x.c == 'C')"}]}}`, nil, ``},
		{`of items of a list that is demanded, too`, `properties: {in: {type: array, items: {type: object, properties: {a: {type: string}, b: {type: string}}}}}`, []string{`self.__in__.all(x, has(x.a) != has(x.b))`}, ``},
		{`of some items`, `properties: {in: {type: array, items: {type: object, properties: {a: {type: string}, b: {type: string}}}}}`, []string{`!has(self.__in__) || self.__in__.exists(x, has(x.a) != has(x.b))`}, ``},
		{`of items that differ`, `properties: {c: {type: string}, in: {type: array, items: {type: object, properties: {a: {type: string}, b: {type: string}}}}}`, []string{`!has(self.__in__) || self.__in__.all(x, has(x.a) != has(x.b) || has(self.c))`}, ``},
		{`of nullable items`, `properties: {in: {type: array, items: {type: object, nullable: true, properties: {a: {type: string}, b: {type: string}}}}}`, []string{`!has(self.__in__) || self.__in__.all(x, has(x.a) != has(x.b))`}, ``},
		{`of entries of a map`, `properties: {in: {type: object, additionalProperties: {type: object, properties: {a: {type: string}, b: {type: string}}}}}`, []string{`!has(self.__in__) || self.__in__.all(x, has(self.__in__[x].a) != has(self.__in__[x].b))`}, ``},

		// Discriminators and members may be in objects of the object.
		{`by a discriminator in a required object`, requiredPlatform, []string{`self.platform.type == 'A' ? has(self.a) : !has(self.a)`, `self.platform.type == 'B' || !has(self.b)`},
			`{discriminator: platform.type, fields-to-discriminateBy: {a: A, b: B}, optionalMembers: [b], discriminatorChange: Allow} equivalent`},
		{`by a discriminator in an optional object`, platform, []string{`has(self.platform) && has(self.platform.type) && self.platform.type == 'A' ? has(self.a) : !has(self.a)`},
			`{discriminator: platform.type, fields-to-discriminateBy: {a: A}, discriminatorChange: Allow} equivalent`},
		{`by a discriminator in an optional object with one guard`, platform, []string{`has(self.platform) && self.platform.type == 'A' ? has(self.a) : !has(self.a)`},
			`{discriminator: platform.type, fields-to-discriminateBy: {a: A}, discriminatorChange: Allow} equivalent`},
		{`by a discriminator in an object that is demanded, too`, platform, []string{`self.platform.type == 'A' ? has(self.a) : !has(self.a)`},
			`{discriminator: platform.type, fields-to-discriminateBy: {a: A}, cardinality: ExactlyOne, discriminatorChange: Allow} equivalent`},
		{`by an optional discriminator`, optionalType, []string{`self.?platform.?type.orValue('') == 'A' ? has(self.a) : !has(self.a)`},
			`{discriminator: platform.type, fields-to-discriminateBy: {a: A}, discriminatorChange: Allow} equivalent`},
		{`pairs, by a discriminator in an object`, requiredPlatform, []string{`!(has(self.a) && self.platform.type != 'A')`, `!(!has(self.a) && self.platform.type == 'A')`},
			`{discriminator: platform.type, fields-to-discriminateBy: {a: A}, discriminatorChange: Allow} equivalent`},
		{`members in an object`, config, []string{`self.type == 'A' ? has(self.config) && has(self.config.a) : !has(self.config) || !has(self.config.a)`, `self.type == 'B' ? has(self.config) && has(self.config.b) : !(has(self.config) && has(self.config.b))`},
			`{discriminator: type, fields-to-discriminateBy: {config.a: A, config.b: B}, discriminatorChange: Allow} equivalent`},
		{`without a discriminator, in two objects`, config, []string{`!has(self.config) || !has(self.config.a) || !has(self.c)`}, `{dependentForbidden: {config.a: c}} equivalent`},
		{`by a discriminator in an object, tighter`, requiredPlatform, []string{`self.platform.type == 'A' || self.b == 'x' ? has(self.a) : !has(self.a)`}, ``},
		{`that a discriminator in an object excludes`, requiredPlatform, []string{`self.platform.type != 'A' || !has(self.a)`},
			`{discriminator: platform.type, fields-to-discriminateBy: {a: [B, C]}, optionalMembers: [a], discriminatorChange: Allow} equivalent`},
		{`an object and members in it`, config, []string{`!(has(self.config) && self.type == 'A') || has(self.config.a)`}, ``},
		{`by the discriminators of two objects`, requiredPlatform, []string{`self.platform.type == 'A' && self.other.type == 'A' ? has(self.a) : !has(self.a)`}, ``},
		{`by a discriminator in items`, `{required: [in], properties: {in: {type: array, items: {type: object, properties: {type: {type: string}}}}, a: {type: string}}}`, []string{`self.__in__[0].type == 'A' ? has(self.a) : !has(self.a)`}, ``},

		// A value may require several members.
		{`two in a conditional`, exposure, []string{`self.type == 'LoadBalancer' ? has(self.service) && has(self.pool) : !has(self.service) && !has(self.pool)`, `self.type == 'NodePort' ? has(self.port) : !has(self.port)`},
			`{discriminator: type, fields-to-discriminateBy: {service: LoadBalancer, pool: LoadBalancer, port: NodePort}, discriminatorChange: Allow} equivalent`},
		{`two in one rule for all`, exposure, []string{`self.type == 'LoadBalancer' ? has(self.service) && has(self.pool) && !has(self.port) : !has(self.service) && !has(self.pool) && (self.type == 'NodePort') == has(self.port)`},
			`{discriminator: type, fields-to-discriminateBy: {service: LoadBalancer, pool: LoadBalancer, port: NodePort}, discriminatorChange: Allow} equivalent`},
		{`two, and one for all other values`, `{required: [type], properties: {type: {type: string, enum: [LoadBalancer, NodePort]}, service: {type: object}, pool: {type: object}, port: {type: object}}}`, []string{`self.type == 'LoadBalancer' ? has(self.service) && has(self.pool) && !has(self.port) : has(self.port) && !has(self.service) && !has(self.pool)`},
			`{discriminator: type, fields-to-discriminateBy: {service: LoadBalancer, pool: LoadBalancer, port: NodePort}, discriminatorChange: Allow} equivalent`},
		{`two, each in a conditional`, exposure, []string{`has(self.type) && self.type == 'LoadBalancer' ? has(self.service) : !has(self.service)`, `has(self.type) && self.type == 'LoadBalancer' ? has(self.pool) : !has(self.pool)`},
			`{discriminator: type, fields-to-discriminateBy: {service: LoadBalancer, pool: LoadBalancer}, discriminatorChange: Allow} equivalent`},
		{`two as implications`, exposure, []string{`self.type != 'LoadBalancer' || (has(self.service) && has(self.pool))`, `self.type == 'LoadBalancer' || !(has(self.service) || has(self.pool))`},
			`{discriminator: type, fields-to-discriminateBy: {service: LoadBalancer, pool: LoadBalancer}, discriminatorChange: Allow} equivalent`},
		{`two, one optional`, exposure, []string{`self.type == 'LoadBalancer' ? has(self.service) : !has(self.service) && !has(self.pool)`},
			`{discriminator: type, fields-to-discriminateBy: {service: LoadBalancer, pool: LoadBalancer}, optionalMembers: [pool], discriminatorChange: Allow} equivalent`},
		{`two, one with a value of its own`, exposure, []string{`self.type in ['LoadBalancer', 'NodePort'] ? has(self.service) : !has(self.service)`, `self.type == 'LoadBalancer' ? has(self.pool) : !has(self.pool)`},
			`{discriminator: type, fields-to-discriminateBy: {service: [LoadBalancer, NodePort], pool: LoadBalancer}, discriminatorChange: Allow} equivalent`},
		{`two, one optional for its own value`, exposure, []string{`self.type == 'LoadBalancer' ? has(self.service) : self.type == 'NodePort' || !has(self.service)`, `self.type == 'LoadBalancer' ? has(self.pool) : !has(self.pool)`},
			`{discriminator: type, fields-to-discriminateBy: {service: [LoadBalancer, NodePort], pool: LoadBalancer}, optionalMembers: {service: NodePort}, discriminatorChange: Allow} equivalent`},
		{`two, not both`, exposure, []string{`self.type == 'LoadBalancer' ? has(self.service) != has(self.pool) : !has(self.service) && !has(self.pool)`, `self.type == 'NodePort' ? has(self.port) : !has(self.port)`},
			`{discriminator: type, fields-to-discriminateBy: {port: NodePort}, discriminatorChange: Allow} equivalent`},

		// Keys that the schema makes irrelevant are omitted.
		{`a default`, `properties: {type: {type: string, enum: [A, B], default: A}, a: {type: object}, b: {type: object}}`,
			[]string{`!has(self.type) || (self.type == 'A' ? has(self.a) : !has(self.a))`, `!has(self.type) || (self.type == 'B' ? has(self.b) : !has(self.b))`},
			`{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, discriminatorChange: Allow} equivalent`},
		{`a default, never empty, that must be set`, `properties: {type: {type: string, pattern: '^[A-Z]+$', default: A}, a: {type: object}}`,
			[]string{`has(self.type) && self.type != '' && (self.type == 'A' ? has(self.a) : !has(self.a))`},
			`{discriminator: type, fields-to-discriminateBy: {a: A}, discriminatorChange: Allow} equivalent`},
		{`a default, never empty, that may be deduced`, `properties: {type: {type: string, pattern: '^[A-Z]+$', default: A}, a: {type: object}, b: {type: object}}`,
			[]string{`!has(self.type) || self.type == '' || (self.type == 'A' ? has(self.a) : !has(self.a))`, `!has(self.type) || self.type == '' || (self.type == 'B' ? has(self.b) : !has(self.b))`, `!has(self.a) || !has(self.b)`},
			`{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, discriminatorChange: Allow} equivalent`},
		{`no default`, `properties: {type: {type: string, pattern: '^[A-Z]+$'}, a: {type: object}, b: {type: object}}`,
			[]string{`!has(self.type) || self.type == '' || (self.type == 'A' ? has(self.a) : !has(self.a))`, `!has(self.type) || self.type == '' || (self.type == 'B' ? has(self.b) : !has(self.b))`, `!has(self.a) || !has(self.b)`},
			`{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, deduceInvalidDiscriminator: true, discriminatorChange: Allow} equivalent`},
		{`no other values`, `properties: {type: {type: string, pattern: '^(A|B)$', default: A}, a: {type: object}}`,
			[]string{`self.type in ['A', 'B'] && (self.type == 'A' ? has(self.a) : !has(self.a))`},
			`{discriminator: type, fields-to-discriminateBy: {a: A}, discriminatorChange: Allow} equivalent`},
		{`never empty`, `properties: {a: {type: string, pattern: '^.+$'}, b: {type: string, pattern: '^.+$'}}`, []string{`!(has(self.a) && self.a != '' && has(self.b) && self.b != '')`},
			`{members: [a, b], cardinality: AtMostOne} equivalent`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := propose(t, c.schema, c.rules...); got != c.want {
				t.Errorf("%s\n%s\nproposed %s\nwant     %s", c.schema, strings.Join(c.rules, "\n"), got, c.want)
			}
		})
	}
}

// TestChanges has discriminators with rules on changes. The union forbids changes only if this
// rejects no update that is accepted now.
func TestChanges(t *testing.T) {
	const frozen = `x-kubernetes-validations: [{rule: self == oldSelf}]`
	const forbid, allow = "Forbid equivalent", "Allow tighter: "
	for _, c := range []struct {
		name, schema string
		rules        []string // of the object; a rule about member a is added
		root         []string // of the resource
		optional     bool     // the object is optional
		want         string
	}{
		{name: "required", schema: `{required: [type], properties: {type: {type: string, enum: [A, B], ` + frozen + `}, a: {type: object}}}`, want: forbid},
		{name: "defaulted", schema: `{properties: {type: {type: string, enum: [A, B], default: A, ` + frozen + `}, a: {type: object}}}`, want: forbid},
		{name: "optional", schema: `{properties: {type: {type: string, enum: [A, B], ` + frozen + `}, a: {type: object}}}`, want: allow + "type changes from 'B' to unset"},
		{name: "optional, with a guard", schema: `{properties: {type: {type: string, enum: [A, B], ` + frozen + `}, a: {type: object}}}`, rules: []string{"!has(oldSelf.type) || has(self.type)"}, want: forbid},
		{name: "in an optional object", schema: `{required: [type], properties: {type: {type: string, enum: [A, B], ` + frozen + `}, a: {type: object}}}`, optional: true, want: allow + "spec is removed while no member is set and type is 'B'"},
		{name: "in an optional object, with a guard", schema: `{required: [type], properties: {type: {type: string, enum: [A, B], ` + frozen + `}, a: {type: object}}}`, optional: true, root: []string{"!has(oldSelf.spec) || has(self.spec)"}, want: forbid},
		{name: "by a rule of the object", schema: `{required: [type], properties: {type: {type: string, enum: [A, B]}, a: {type: object}}}`, rules: []string{"self.type == oldSelf.type"}, want: forbid},
		{name: "by a rule of the resource", schema: `{required: [type], properties: {type: {type: string, enum: [A, B]}, a: {type: object}}}`, root: []string{"self.spec.type == oldSelf.spec.type"}, want: forbid},
		{name: "but for one value", schema: `{required: [type], properties: {type: {type: string, enum: [A, B], x-kubernetes-validations: [{rule: "self == oldSelf || oldSelf == 'B'"}]}, a: {type: object}}}`, want: allow + "type changes from 'B' to 'A'"},
		{name: "of another property", schema: `{required: [type], properties: {type: {type: string, enum: [A, B]}, a: {type: object}, c: {type: string, ` + frozen + `}}}`, want: "Allow "},
	} {
		t.Run(c.name, func(t *testing.T) {
			crd := crdWith(t, c.schema, append(c.rules, "has(self.type) && self.type == 'A' ? has(self.a) : !has(self.a)")...)
			root := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
			if !c.optional {
				root.Required = []string{"spec"}
			}
			for _, rule := range c.root {
				addRule(root, rule)
			}
			found := find(t, crd)
			if len(found) != 1 || found[0].Comparison.Verdict != verify.Equivalent {
				t.Fatalf("found %+v", found)
			}
			f := found[0]
			got := fmt.Sprintf("%s %s", f.Union.Change, f.Changes.Verdict)
			if d := f.Changes.Tighter; d != nil {
				got += ": " + d.Words(f.Union)
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// propose infers unions from a schema with rules, and formats them on one line. The schema may omit
// the type.
func propose(t *testing.T, schema string, rules ...string) string {
	t.Helper()
	var l []string
	for _, f := range find(t, crdWith(t, schema, rules...)) {
		l = append(l, inline(t, f))
	}
	return strings.Join(l, "\n")
}

// crdWith returns a CRD whose spec has a schema and additional rules.
func crdWith(t *testing.T, schema string, rules ...string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var s apiextensionsv1.JSONSchemaProps
	if err := sigs.UnmarshalStrict([]byte(schema), &s); err != nil {
		t.Fatal(err)
	}
	s.Type = "object"
	for _, r := range rules {
		addRule(&s, r)
	}
	return crdOf(s)
}

// inline formats a union on one line.
func inline(t *testing.T, f handwritten.Found) string {
	t.Helper()
	n := f.Union.Node()
	n.Style = yaml.FlowStyle
	text, err := yaml.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	verdict := string(f.Comparison.Verdict)
	if d := f.Comparison.Looser; d != nil {
		verdict += ": " + d.Words(f.Union)
	}
	at := strings.TrimPrefix(strings.TrimPrefix(f.Path.String(), "spec"), ".")
	if at != "" {
		at += ": "
	}
	return fmt.Sprintf("%s%s %s", at, strings.TrimSpace(string(text)), verdict)
}
