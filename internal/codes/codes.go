// Package codes names the codes of diagnostics for this module.
// The library promises their text, such as "UC203", in pkg/diag.Codes.
package codes

// Errors in the file, found before unions are read.
const (
	// Syntax: the file is not well-formed YAML or JSON.
	Syntax = "UC101"
	// InvalidUTF8: the file contains bytes that are not UTF-8.
	InvalidUTF8 = "UC102"
	// EmptyInput: there is no document in the input.
	EmptyInput = "UC103"
	// DuplicateKey: a mapping has the same key twice.
	DuplicateKey = "UC104"
	// AmbiguousScalar: kubectl and a YAML 1.2 reader disagree about what an
	// unquoted scalar means.
	AmbiguousScalar = "UC105"
	// OldCRDVersion: the CustomResourceDefinition is of apiextensions.k8s.io/v1beta1, or another
	// carrier of schemas has an unknown version.
	OldCRDVersion = "UC106"
	// UndecodableCRD: the document claims to be a CustomResourceDefinition and cannot be decoded as
	// one.
	UndecodableCRD = "UC107"
	// OverLimit: the file exceeds a limit on untrusted input.
	OverLimit = "UC108"
)

// Errors in a declaration, alone or against its schema.
const (
	// UnknownKey: an item of x-kubernetes-unions has an unknown key.
	UnknownKey = "UC201"
	// MalformedDeclaration: a value in the declaration has the wrong type or form.
	MalformedDeclaration = "UC202"
	// UnknownMember: a member is not a property of the object.
	UnknownMember = "UC203"
	// UnknownDiscriminator: the discriminator is not a property of the object.
	UnknownDiscriminator = "UC204"
	// InexpressibleName: CEL cannot express the name of the property.
	InexpressibleName = "UC205"
	// InvisibleProperty: CEL cannot see the property, because it has no type.
	InvisibleProperty = "UC206"
	// DiscriminatorNotString: the discriminator is not a string, boolean or integer in CEL.
	DiscriminatorNotString = "UC207"
	// DiscriminatorIsMember: the discriminator is a member of its own union.
	DiscriminatorIsMember = "UC208"
	// DiscriminatorShared: a property is the discriminator of two unions.
	DiscriminatorShared = "UC209"
	// DuplicateValue: a discriminator value is listed twice for a member, or two members in Go seem
	// to have the same value.
	DuplicateValue = "UC210"
	// MemberShared: a union lists a property twice.
	MemberShared = "UC211"
	// NoMembers: the union has no members.
	NoMembers = "UC212"
	// EmptyValue: a member is selected by the empty string, which means unset.
	EmptyValue = "UC213"
	// MemberAlwaysSet: a member is required or has a default.
	MemberAlwaysSet = "UC214"
	// NotAnObject: the schema is not an object with properties.
	NotAnObject = "UC215"
	// InsideMetadata: the declaration is inside metadata.
	InsideMetadata = "UC216"
	// InsideComposition: the declaration is inside allOf, anyOf, oneOf or not.
	InsideComposition = "UC217"
	// ValueNotInEnum: the enum of the discriminator lacks a mapped value.
	ValueNotInEnum = "UC218"
	// EmptyIsUnsetType: the type of a member of emptyIsUnset has no empty value.
	EmptyIsUnsetType = "UC219"
	// Contradiction: parts of the declaration contradict each other or the schema.
	Contradiction = "UC220"
	// UnknownChange: allowedChanges names a value or member that does not exist.
	UnknownChange = "UC221"
	// NotCorrelatable: a transition is required where the API server cannot correlate old and new
	// objects.
	NotCorrelatable = "UC222"
	// Misplaced: the key of declarations, or a similar key, is not in a schema.
	Misplaced = "UC223"
	// ExcludedValue: the pattern or a limit of the discriminator excludes a mapped value.
	ExcludedValue = "UC224"
	// NotCarried: another controller makes a CRD from the schema with the union, and does not copy
	// the rules.
	NotCarried = "UC225"
	// BadItem: a member of a union of list items is not identified by the keys of the list.
	BadItem = "UC226"
)

// Reasons for the API server to reject the result.
const (
	// RuleOverBudget: a rule costs more than the API server allows for one.
	RuleOverBudget = "UC301"
	// VersionOverBudget: the rules of a version together cost more than allowed.
	VersionOverBudget = "UC302"
	// KubeVersion: the declaration or a rule needs a newer API server than the given version.
	KubeVersion = "UC303"
	// InvalidResult: the API server's own validation rejects the compiled CRD.
	InvalidResult = "UC304"
	// NotProved: verify found that the rules do not have the meaning of the union, or could not
	// tell.
	NotProved = "UC306"
)

// Obstacles to rewriting the file.
const (
	// SharedContent: the edit would change content shared by an alias or a merge key.
	SharedContent = "UC401"
	// BadAnnotation: the annotation of an earlier run cannot be read.
	BadAnnotation = "UC402"
	// RuleChanged: a rule that an earlier run wrote is gone or was edited.
	RuleChanged = "UC403"
	// AnnotationTooLarge: the annotation would exceed the API server's limit.
	AnnotationTooLarge = "UC404"
	// Unproved: the edit is impossible, or the result is not provably the intended document.
	Unproved = "UC405"
	// UnconfirmedRule: the annotation claims a rule that its unions do not write.
	UnconfirmedRule = "UC406"
	// Forgotten: a union that the annotation records is declared nowhere any more.
	Forgotten = "UC407"
)

// Legal input that deserves a look.
const (
	// DefaultedDiscriminator: the discriminator has a default, so that users get errors about a
	// value they never wrote.
	DefaultedDiscriminator = "UC501"
	// VersionsDiffer: served versions declare different unions at one path.
	VersionsDiffer = "UC502"
	// InvalidBefore: the API server rejects the CRD even without the compiled rules.
	InvalidBefore = "UC503"
	// RemovableItem: removing a list item or map value and adding it again gets around a forbidden
	// change.
	RemovableItem = "UC504"
	// ManifestTooLarge: compiling makes the manifest too large for client-side apply.
	ManifestTooLarge = "UC505"
	// ClearLeftOut: a default transition rule was left out.
	ClearLeftOut = "UC506"
	// MessageLost: a rule of another union has the same text and another message.
	MessageLost = "UC507"
	// HandWrittenRulePresent: an equal hand-written rule was found and is used.
	HandWrittenRulePresent = "UC508"
	// NoEffect: the union forbids nothing.
	NoEffect = "UC509"
	// CoarserEncoding: the rules are not in the preferred encoding, which would exceed a
	// budget, or not in the requested encoding, which would be too long.
	CoarserEncoding = "UC510"
	// RulesReplaced: the compiled rules, proved to mean the same, replaced hand-written rules.
	RulesReplaced = "UC511"
	// RulesNotReplaced: hand-written rules that were to be replaced are kept, because they do not
	// have the meaning of the union, or this is unknown.
	RulesNotReplaced = "UC512"
	// UnusedMarkers: no CustomResourceDefinition has the Go struct with the markers.
	UnusedMarkers = "UC514"
	// SingleMember: a union without a discriminator has a single member, which is therefore simply
	// required.
	SingleMember = "UC515"
	// UnreadUnionSet: an input is a UnionSet, whose unions are not compiled.
	UnreadUnionSet = "UC516"
	// HandWrittenConstraint: a hand-written constraint repeats a union, or rejects objects that the
	// union allows.
	HandWrittenConstraint = "UC517"
	// LeftUndeclared: infer found a union and did not declare it, because it was not asked to or
	// the declaration could not be compiled.
	LeftUndeclared = "UC518"
	// CRDInText: the text of a ConfigMap or Secret has a CRD with unions, which is not compiled.
	CRDInText = "UC519"
	// NoEnum: lint recommends an enum for the discriminator.
	NoEnum = "UC520"
	// ValueWithoutMember: lint found a value of the enum that selects no member.
	ValueWithoutMember = "UC521"
	// RequiredChildren: lint found a member that cannot be set without its children.
	RequiredChildren = "UC522"
	// ListMember: lint found a member that is a list or a map, which is present when empty.
	ListMember = "UC523"
	// Undiscriminated: lint found a union without a discriminator in a new API.
	Undiscriminated = "UC524"
	// CostlyRules: lint found rules that take more than half of a budget.
	CostlyRules = "UC525"
	// VersionBypass: lint found another served version that bypasses the union.
	VersionBypass = "UC527"
	// TableBypass: lint found a row of allowedChanges that allows, in two updates, changes that the
	// table forbids.
	TableBypass = "UC528"
	// NeverUnchanged: lint found a union object that is never unchanged to the API server, so that
	// it does not ratchet.
	NeverUnchanged = "UC529"
	// UnusedDiscriminator: lint found a property that has a value for each member of a union but is
	// not its discriminator.
	UnusedDiscriminator = "UC531"
	// FailingRule: lint found a hand-written rule that fails to evaluate on an object that the
	// schema accepts.
	FailingRule = "UC532"
	// SharedValue: a value of the discriminator selects several members.
	SharedValue = "UC533"
	// AbsentMember: the schema has neither the property nor a value of a member, which is left out
	// of the union.
	AbsentMember = "UC534"
	// RuleRemoved: a compiled rule is removed, or replaced by another one.
	RuleRemoved = "UC535"
)

// Errors in markers in Go source.
const (
	// GoPackage: a Go package cannot be found, parsed or type-checked.
	GoPackage = "UC601"
	// BadMarker: a marker is malformed, or has no meaning at its position.
	BadMarker = "UC602"
	// TwoDiscriminators: two fields are the discriminator of one union.
	TwoDiscriminators = "UC603"
	// SpansStructs: a union has its fields in more than one struct.
	SpansStructs = "UC604"
)

// Errors in external declarations.
const (
	// BadUnionSet: a UnionSet is malformed.
	BadUnionSet = "UC701"
	// NoSuchCRD: the input does not contain the CRD of a declaration.
	NoSuchCRD = "UC702"
	// NoSuchSchema: the CRD has no such version, or no schema at the path.
	NoSuchSchema = "UC703"
	// DeclaredTwice: a schema has declarations from two sources.
	DeclaredTwice = "UC704"
	// BadFunctionConfig: the configuration of the KRM function is malformed.
	BadFunctionConfig = "UC705"
	// BadConfig: .unioncel.yaml is malformed.
	BadConfig = "UC706"
	// NoSuchUnion: an extension names no union that is declared for its schema.
	NoSuchUnion = "UC707"
)

// Findings in objects.
const (
	// Normalized: members that a union excludes were cleared, or members that it requires kept.
	Normalized = "UC801"
	// NotNormalized: an object violates a union, and the intended state is unknown.
	NotNormalized = "UC802"
	// UnknownKind: no object has a kind with known unions.
	UnknownKind = "UC803"
	// Refused: the API server rejects the object.
	Refused = "UC804"
	// NoCRD: there is no CRD for an object, or none that serves its version.
	NoCRD = "UC805"
	// TwoCRDs: two CRDs define the same kind.
	TwoCRDs = "UC806"
	// BadOldObject: an old object cannot be replaced, or no object replaces it.
	BadOldObject = "UC807"
	// ServerWarning: the API server accepts the object with a warning.
	ServerWarning = "UC808"
	// CostlyPolicy: an admission policy may cost more than the API server allows.
	CostlyPolicy = "UC809"
	// BadTests: a file with tests of a CRD cannot be read.
	BadTests = "UC810"
	// TestFailed: the API server's response differs from the response that a test expects.
	TestFailed = "UC811"
	// StoredObject: a stored object is invalid under the new CRD.
	StoredObject = "UC812"
	// PolicyGap: an admission policy does not enforce a union as requested.
	PolicyGap = "UC813"
)

// Errors in facts about a cluster.
const (
	// UnusableFact: a fact about a cluster cannot be used.
	UnusableFact = "UC901"
	// ContradictoryFacts: facts about a cluster contradict each other.
	ContradictoryFacts = "UC902"
)

// Differences between two CRDs.
const (
	// Tighter: the new CRD rejects something that the old one accepted.
	Tighter = "UC911"
	// Undecided: it is unknown whether the new CRD rejects something that the old one accepted.
	Undecided = "UC912"
	// Looser: the new CRD accepts everything that the old one accepted, and maybe more.
	Looser = "UC913"
)

// Findings in hand-written rules.
const (
	// FailsToEvaluate: a rule fails to evaluate on an object that everything else accepts.
	FailsToEvaluate = "UC921"
	// LooserThanMessage: a rule accepts an object that its message or a description rules out.
	LooserThanMessage = "UC922"
	// NotEachItem: a rule that means each item rejects a list only if all items are wrong.
	NotEachItem = "UC923"
	// ImpossibleValue: a rule rejects every object with some value of an enum.
	ImpossibleValue = "UC924"
	// NeverRejects: a rule rejects no object.
	NeverRejects = "UC925"
	// AlwaysRejects: a rule rejects every object.
	AlwaysRejects = "UC926"
	// SameRule: a rule rejects the same objects as another rule of the schema.
	SameRule = "UC927"
	// OtherVersion: another served version accepts an object that a rule rejects.
	OtherVersion = "UC928"
	// CostlyRule: a rule takes more than half of a budget.
	CostlyRule = "UC929"
	// BlocksUpdates: a rule fails to evaluate on every update of some object.
	BlocksUpdates = "UC930"
	// NotCompiling: a rule does not compile.
	NotCompiling = "UC931"
)
