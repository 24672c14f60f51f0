package diag

import "slices"

// Code identifies a kind of diagnostic, such as "UC203". A code is documented,
// keeps its meaning forever, and is never reused.
type Code string

// Errors in the file, found before unions are read.
const (
	// Syntax: the file is not well-formed YAML or JSON.
	Syntax Code = "UC101"
	// InvalidUTF8: the file contains bytes that are not UTF-8.
	InvalidUTF8 Code = "UC102"
	// EmptyInput: there is no document in the input.
	EmptyInput Code = "UC103"
	// DuplicateKey: a mapping has the same key twice.
	DuplicateKey Code = "UC104"
	// AmbiguousScalar: kubectl and a YAML 1.2 reader disagree about what an
	// unquoted scalar means.
	AmbiguousScalar Code = "UC105"
	// OldCRDVersion: the CustomResourceDefinition is of apiextensions.k8s.io/v1beta1, or another
	// carrier of schemas has an unknown version.
	OldCRDVersion Code = "UC106"
	// UndecodableCRD: the document claims to be a CustomResourceDefinition and cannot be decoded as
	// one.
	UndecodableCRD Code = "UC107"
	// OverLimit: the file exceeds a limit on untrusted input.
	OverLimit Code = "UC108"
)

// Errors in a declaration, alone or against its schema.
const (
	// UnknownKey: an item of x-kubernetes-unions has an unknown key.
	UnknownKey Code = "UC201"
	// MalformedDeclaration: a value in the declaration has the wrong type or form.
	MalformedDeclaration Code = "UC202"
	// UnknownMember: a member is not a property of the object.
	UnknownMember Code = "UC203"
	// UnknownDiscriminator: the discriminator is not a property of the object.
	UnknownDiscriminator Code = "UC204"
	// InexpressibleName: CEL cannot express the name of the property.
	InexpressibleName Code = "UC205"
	// InvisibleProperty: CEL cannot see the property, because it has no type.
	InvisibleProperty Code = "UC206"
	// DiscriminatorNotString: the discriminator is not a string in CEL.
	DiscriminatorNotString Code = "UC207"
	// DiscriminatorIsMember: the discriminator is a member of its own union.
	DiscriminatorIsMember Code = "UC208"
	// DiscriminatorShared: a property is the discriminator of two unions.
	DiscriminatorShared Code = "UC209"
	// DuplicateValue: a discriminator value is listed twice for a member, or two members in Go seem
	// to have the same value.
	DuplicateValue Code = "UC210"
	// MemberShared: a property is a member of two unions.
	MemberShared Code = "UC211"
	// NoMembers: the union has no members.
	NoMembers Code = "UC212"
	// EmptyValue: a member is selected by the empty string, which means unset.
	EmptyValue Code = "UC213"
	// MemberAlwaysSet: a member is required or has a default.
	MemberAlwaysSet Code = "UC214"
	// NotAnObject: the schema is not an object with properties.
	NotAnObject Code = "UC215"
	// InsideMetadata: the declaration is inside metadata.
	InsideMetadata Code = "UC216"
	// InsideComposition: the declaration is inside allOf, anyOf, oneOf or not.
	InsideComposition Code = "UC217"
	// ValueNotInEnum: the enum of the discriminator lacks a mapped value.
	ValueNotInEnum Code = "UC218"
	// EmptyIsUnsetType: the type of a member of emptyIsUnset has no empty value.
	EmptyIsUnsetType Code = "UC219"
	// Contradiction: parts of the declaration contradict each other or the schema.
	Contradiction Code = "UC220"
	// UnknownChange: allowedChanges names a value or member that does not exist.
	UnknownChange Code = "UC221"
	// NotCorrelatable: a transition is required where the API server cannot correlate old and new
	// objects.
	NotCorrelatable Code = "UC222"
	// Misplaced: the key of declarations, or a similar key, is not in a schema.
	Misplaced Code = "UC223"
	// ExcludedValue: the pattern or a length of the discriminator excludes a mapped value.
	ExcludedValue Code = "UC224"
	// NotCarried: another controller makes a CRD from the schema with the union, and does not copy
	// the rules.
	NotCarried Code = "UC225"
	// BadItem: a member of a union of list items is not identified by the keys of the list.
	BadItem Code = "UC226"
)

// Reasons for the API server to reject the result.
const (
	// RuleOverBudget: a rule costs more than the API server allows for one.
	RuleOverBudget Code = "UC301"
	// VersionOverBudget: the rules of a version together cost more than allowed.
	VersionOverBudget Code = "UC302"
	// KubeVersion: the declaration needs a newer API server than the given version.
	KubeVersion Code = "UC303"
	// InvalidResult: the API server's own validation rejects the compiled CRD.
	InvalidResult Code = "UC304"
	// NotExpressible: no OpenAPI schema has the meaning of the union.
	NotExpressible Code = "UC305"
	// NotProved: --verify found that the rules do not have the meaning of the union, or could not
	// tell.
	NotProved Code = "UC306"
)

// Obstacles to rewriting the file.
const (
	// SharedContent: the edit would change content shared by an alias or a merge key.
	SharedContent Code = "UC401"
	// BadAnnotation: the annotation of an earlier run cannot be read.
	BadAnnotation Code = "UC402"
	// RuleChanged: a rule, or a sentence in a description, that an earlier run wrote is gone or was
	// edited.
	RuleChanged Code = "UC403"
	// AnnotationTooLarge: the annotation would exceed the API server's limit.
	AnnotationTooLarge Code = "UC404"
	// Unproved: the edit is impossible, or the result is not provably the intended document.
	Unproved Code = "UC405"
	// UnconfirmedRule: the annotation claims a rule that its unions neither write nor imply.
	UnconfirmedRule Code = "UC406"
)

// Legal input that deserves a look.
const (
	// DefaultedDiscriminator: the discriminator has a default, so that users get errors about a
	// value they never wrote.
	DefaultedDiscriminator Code = "UC501"
	// VersionsDiffer: served versions declare different unions at one path.
	VersionsDiffer Code = "UC502"
	// InvalidBefore: the API server rejects the CRD even without the compiled rules.
	InvalidBefore Code = "UC503"
	// RemovableItem: removing a list item or map value and adding it again gets around a forbidden
	// change.
	RemovableItem Code = "UC504"
	// ManifestTooLarge: compiling makes the manifest too large for client-side apply.
	ManifestTooLarge Code = "UC505"
	// ClearLeftOut: a default transition rule was left out.
	ClearLeftOut Code = "UC506"
	// UnionsKept: the output still contains x-kubernetes-unions.
	UnionsKept Code = "UC507"
	// HandWrittenRulePresent: an equal hand-written rule was found and is used.
	HandWrittenRulePresent Code = "UC508"
	// NoEffect: the union forbids nothing.
	NoEffect Code = "UC509"
	// CoarserEncoding: the rules are not in the preferred encoding, which would exceed a
	// budget, or not in the requested encoding, which would be too long.
	CoarserEncoding Code = "UC510"
	// RulesReplaced: the compiled rules, proved to mean the same, replaced hand-written rules.
	RulesReplaced Code = "UC511"
	// RulesNotReplaced: hand-written rules that were to be replaced are kept, because they do not
	// have the meaning of the union, or this is unknown.
	RulesNotReplaced Code = "UC512"
	// Forgotten: a declaration that an earlier run took from outside the CRD no longer exists, and
	// its rules are removed.
	Forgotten Code = "UC513"
	// UnusedMarkers: no CustomResourceDefinition has the Go struct with the markers.
	UnusedMarkers Code = "UC514"
	// SingleMember: a union without a discriminator has a single member, which is therefore simply
	// required.
	SingleMember Code = "UC515"
	// UnreadUnionSet: an input is a UnionSet, whose unions are not compiled.
	UnreadUnionSet Code = "UC516"
	// HandWrittenConstraint: a hand-written constraint repeats a union, or rejects objects that the
	// union allows.
	HandWrittenConstraint Code = "UC517"
	// LeftUndeclared: infer found a union and did not declare it, because it was not asked to or
	// the declaration could not be compiled.
	LeftUndeclared Code = "UC518"
	// CRDInText: the text of a ConfigMap or Secret has a CRD with unions, which is not compiled.
	CRDInText Code = "UC519"
	// NoEnum: lint recommends an enum for the discriminator.
	NoEnum Code = "UC520"
	// ValueWithoutMember: lint found a value of the enum that selects no member.
	ValueWithoutMember Code = "UC521"
	// RequiredChildren: lint found a member that cannot be set without its children.
	RequiredChildren Code = "UC522"
	// ListMember: lint found a member that is a list or a map, which is present when empty.
	ListMember Code = "UC523"
	// Undiscriminated: lint found a union without a discriminator in a new API.
	Undiscriminated Code = "UC524"
	// CostlyRules: lint found rules that take more than half of a budget.
	CostlyRules Code = "UC525"
	// UselessIgnore: a comment at a declaration suppresses a diagnostic that does not occur.
	UselessIgnore Code = "UC526"
	// VersionBypass: lint found another served version that bypasses the union.
	VersionBypass Code = "UC527"
	// TableBypass: lint found a row of allowedChanges that allows, in two updates, changes that the
	// table forbids.
	TableBypass Code = "UC528"
	// NeverUnchanged: lint found a union object that is never unchanged to the API server, so that
	// it does not ratchet.
	NeverUnchanged Code = "UC529"
	// SlowRules: lint found rules that take more than a millisecond of every request.
	SlowRules Code = "UC530"
	// UnusedDiscriminator: lint found a property that has a value for each member of a union but is
	// not its discriminator.
	UnusedDiscriminator Code = "UC531"
	// FailingRule: lint found a hand-written rule that fails to evaluate on an object that the
	// schema accepts.
	FailingRule Code = "UC532"
	// SharedValue: a value of the discriminator selects several members.
	SharedValue Code = "UC533"
	// AbsentMember: the schema has neither the property nor a value of a member, which is left out
	// of the union.
	AbsentMember Code = "UC534"
)

// Errors in markers in Go source.
const (
	// GoPackage: a Go package cannot be found, parsed or type-checked.
	GoPackage Code = "UC601"
	// BadMarker: a marker is malformed, or has no meaning at its position.
	BadMarker Code = "UC602"
	// TwoDiscriminators: two fields are the discriminator of one union.
	TwoDiscriminators Code = "UC603"
	// SpansStructs: a union has its fields in more than one struct.
	SpansStructs Code = "UC604"
)

// Errors in external declarations.
const (
	// BadUnionSet: a UnionSet is malformed.
	BadUnionSet Code = "UC701"
	// NoSuchCRD: the input does not contain the CRD of a declaration.
	NoSuchCRD Code = "UC702"
	// NoSuchSchema: the CRD has no such version, or no schema at the path.
	NoSuchSchema Code = "UC703"
	// DeclaredTwice: a schema has declarations from two sources.
	DeclaredTwice Code = "UC704"
	// BadFunctionConfig: the configuration of the KRM function is malformed.
	BadFunctionConfig Code = "UC705"
	// BadConfig: .unioncel.yaml is malformed.
	BadConfig Code = "UC706"
	// NoSuchUnion: an extension names no union that is declared for its schema.
	NoSuchUnion Code = "UC707"
)

// Findings in objects.
const (
	// Normalized: members that a union excludes were cleared, or members that it requires kept.
	Normalized Code = "UC801"
	// NotNormalized: an object violates a union, and the intended state is unknown.
	NotNormalized Code = "UC802"
	// UnknownKind: no object has a kind with known unions.
	UnknownKind Code = "UC803"
	// Refused: the API server rejects the object.
	Refused Code = "UC804"
	// NoCRD: there is no CRD for an object, or none that serves its version.
	NoCRD Code = "UC805"
	// TwoCRDs: two CRDs define the same kind.
	TwoCRDs Code = "UC806"
	// BadOldObject: an old object cannot be replaced, or no object replaces it.
	BadOldObject Code = "UC807"
	// ServerWarning: the API server accepts the object with a warning.
	ServerWarning Code = "UC808"
	// CostlyPolicy: an admission policy may cost more than the API server allows.
	CostlyPolicy Code = "UC809"
	// BadTests: a file with tests of a CRD cannot be read.
	BadTests Code = "UC810"
	// TestFailed: the API server's response differs from the response that a test expects.
	TestFailed Code = "UC811"
	// StoredObject: a stored object is invalid under the new CRD.
	StoredObject Code = "UC812"
	// PolicyGap: an admission policy does not enforce a union as requested.
	PolicyGap Code = "UC813"
)

// Errors in facts about a cluster.
const (
	// UnusableFact: a fact about a cluster cannot be used.
	UnusableFact Code = "UC901"
	// ContradictoryFacts: facts about a cluster contradict each other.
	ContradictoryFacts Code = "UC902"
)

// Differences between two CRDs.
const (
	// Tighter: the new CRD rejects something that the old one accepted.
	Tighter Code = "UC911"
	// Undecided: it is unknown whether the new CRD rejects something that the old one accepted.
	Undecided Code = "UC912"
	// Looser: the new CRD accepts everything that the old one accepted, and maybe more.
	Looser Code = "UC913"
)

// Findings in hand-written rules.
const (
	// FailsToEvaluate: a rule fails to evaluate on an object that everything else accepts.
	FailsToEvaluate Code = "UC921"
	// LooserThanMessage: a rule accepts an object that its message or a description rules out.
	LooserThanMessage Code = "UC922"
	// NotEachItem: a rule that means each item rejects a list only if all items are wrong.
	NotEachItem Code = "UC923"
	// ImpossibleValue: a rule rejects every object with some value of an enum.
	ImpossibleValue Code = "UC924"
	// NeverRejects: a rule rejects no object.
	NeverRejects Code = "UC925"
	// AlwaysRejects: a rule rejects every object.
	AlwaysRejects Code = "UC926"
	// SameRule: a rule rejects the same objects as another rule of the schema.
	SameRule Code = "UC927"
	// OtherVersion: another served version accepts an object that a rule rejects.
	OtherVersion Code = "UC928"
	// CostlyRule: a rule takes more than half of a budget.
	CostlyRule Code = "UC929"
	// BlocksUpdates: a rule fails to evaluate on every update of some object.
	BlocksUpdates Code = "UC930"
	// NotCompiling: a rule does not compile.
	NotCompiling Code = "UC931"
)

// CodeInfo describes a code.
type CodeInfo struct {
	Code     Code
	Severity Severity // the default severity of diagnostics with this code
	Title    string   // a few words, for tables and headings
}

// Codes lists every code in ascending order.
var Codes = []CodeInfo{
	{Syntax, Error, "syntax error"},
	{InvalidUTF8, Error, "not UTF-8"},
	{EmptyInput, Error, "empty input"},
	{DuplicateKey, Error, "duplicate key"},
	{AmbiguousScalar, Error, "ambiguous scalar"},
	{OldCRDVersion, Error, "unsupported API version"},
	{UndecodableCRD, Error, "undecodable CRD"},
	{OverLimit, Error, "over a limit"},

	{UnknownKey, Error, "unknown key"},
	{MalformedDeclaration, Error, "malformed declaration"},
	{UnknownMember, Error, "unknown member"},
	{UnknownDiscriminator, Error, "unknown discriminator"},
	{InexpressibleName, Error, "name that CEL cannot express"},
	{InvisibleProperty, Error, "property that CEL cannot see"},
	{DiscriminatorNotString, Error, "discriminator is not a string"},
	{DiscriminatorIsMember, Error, "discriminator is a member"},
	{DiscriminatorShared, Error, "discriminator of two unions"},
	{DuplicateValue, Error, "duplicate value"},
	{MemberShared, Error, "member of two unions"},
	{NoMembers, Error, "no members"},
	{EmptyValue, Error, "empty value"},
	{MemberAlwaysSet, Error, "member is always set"},
	{NotAnObject, Error, "not an object with properties"},
	{InsideMetadata, Error, "union inside metadata"},
	{InsideComposition, Error, "union inside a composition"},
	{ValueNotInEnum, Error, "value missing from the enum"},
	{EmptyIsUnsetType, Error, "type without an empty value"},
	{Contradiction, Error, "contradiction"},
	{UnknownChange, Error, "change of unknown values"},
	{NotCorrelatable, Error, "old and new cannot be correlated"},
	{Misplaced, Error, "misplaced declaration"},
	{ExcludedValue, Error, "value that the discriminator cannot have"},
	{NotCarried, Error, "union that does not reach the API server"},
	{BadItem, Error, "item that the keys of a list do not name"},

	{RuleOverBudget, Error, "rule over budget"},
	{VersionOverBudget, Error, "version over budget"},
	{KubeVersion, Error, "Kubernetes version too old"},
	{InvalidResult, Error, "invalid result"},
	{NotExpressible, Error, "not expressible in OpenAPI"},
	{NotProved, Error, "not proved"},

	{SharedContent, Error, "shared content"},
	{BadAnnotation, Error, "unreadable annotation"},
	{RuleChanged, Error, "compiled rule gone or edited"},
	{AnnotationTooLarge, Error, "annotation too large"},
	{Unproved, Error, "edit not possible or not proved"},
	{UnconfirmedRule, Error, "unconfirmed rule"},

	{DefaultedDiscriminator, Warning, "discriminator with a default"},
	{VersionsDiffer, Warning, "versions differ"},
	{InvalidBefore, Warning, "invalid before compiling"},
	{RemovableItem, Warning, "item can be removed and added again"},
	{ManifestTooLarge, Warning, "manifest too large for client-side apply"},
	{ClearLeftOut, Info, "clear rule left out"},
	{UnionsKept, Warning, "declaration kept in the output"},
	{HandWrittenRulePresent, Info, "hand-written rule already present"},
	{NoEffect, Warning, "union without effect"},
	{CoarserEncoding, Info, "coarser encoding"},
	{RulesReplaced, Info, "hand-written rules replaced"},
	{RulesNotReplaced, Warning, "hand-written rules not replaced"},
	{Forgotten, Warning, "declaration forgotten"},
	{UnusedMarkers, Warning, "markers without a CRD"},
	{SingleMember, Warning, "union of a single member"},
	{UnreadUnionSet, Warning, "UnionSet not read"},
	{HandWrittenConstraint, Warning, "hand-written constraint"},
	{LeftUndeclared, Warning, "union left undeclared"},
	{CRDInText, Warning, "CRD in a text"},
	{NoEnum, Warning, "discriminator without an enum"},
	{ValueWithoutMember, Info, "value without a member"},
	{RequiredChildren, Info, "member with required children only"},
	{ListMember, Warning, "list or map as member"},
	{Undiscriminated, Info, "new union without a discriminator"},
	{CostlyRules, Warning, "rules above half a budget"},
	{UselessIgnore, Warning, "useless ignore comment"},
	{VersionBypass, Warning, "bypass through a version"},
	{TableBypass, Warning, "bypass in allowedChanges"},
	{NeverUnchanged, Info, "union object never unchanged"},
	{SlowRules, Warning, "slow rules"},
	{UnusedDiscriminator, Warning, "discriminator not declared"},
	{FailingRule, Warning, "rule fails to evaluate"},
	{SharedValue, Info, "value of several members"},
	{AbsentMember, Info, "member absent from the schema"},

	{GoPackage, Error, "unreadable Go package"},
	{BadMarker, Error, "bad marker"},
	{TwoDiscriminators, Error, "two discriminators"},
	{SpansStructs, Error, "union spans structs"},

	{BadUnionSet, Error, "bad UnionSet"},
	{NoSuchCRD, Error, "no such CRD"},
	{NoSuchSchema, Error, "no such schema"},
	{DeclaredTwice, Error, "declared twice"},
	{BadFunctionConfig, Error, "bad functionConfig"},
	{BadConfig, Error, "bad configuration"},
	{NoSuchUnion, Error, "no such union"},

	{Normalized, Warning, "normalized"},
	{NotNormalized, Error, "not normalized"},
	{UnknownKind, Error, "no object with a known union"},
	{Refused, Error, "rejected by the API server"},
	{NoCRD, Error, "no CRD for the object"},
	{TwoCRDs, Error, "two CRDs for one kind"},
	{BadOldObject, Error, "unusable old object"},
	{ServerWarning, Warning, "warning of the API server"},
	{CostlyPolicy, Warning, "policy too costly for large objects"},
	{BadTests, Error, "unusable tests"},
	{TestFailed, Error, "failed test"},
	{StoredObject, Error, "illegal stored object"},
	{PolicyGap, Warning, "not done by a policy"},

	{UnusableFact, Error, "unusable fact"},
	{ContradictoryFacts, Error, "contradictory facts"},

	{Tighter, Error, "rejected from now on"},
	{Undecided, Warning, "change not decided"},
	{Looser, Info, "harmless change"},

	{FailsToEvaluate, Warning, "hand-written rule fails to evaluate"},
	{LooserThanMessage, Warning, "rule looser than its message"},
	{NotEachItem, Warning, "rule not on each item"},
	{ImpossibleValue, Warning, "impossible value"},
	{NeverRejects, Warning, "rule that never rejects"},
	{AlwaysRejects, Warning, "rule that always rejects"},
	{SameRule, Warning, "same rule twice"},
	{OtherVersion, Warning, "rule missing in another version"},
	{CostlyRule, Warning, "costly rule"},
	{BlocksUpdates, Warning, "rule blocks updates"},
	{NotCompiling, Error, "rule that does not compile"},
}

// Info returns the entry of the code in [Codes], and whether there is one.
func (c Code) Info() (CodeInfo, bool) {
	i := slices.IndexFunc(Codes, func(info CodeInfo) bool { return info.Code == c })
	if i < 0 {
		return CodeInfo{}, false
	}
	return Codes[i], true
}
