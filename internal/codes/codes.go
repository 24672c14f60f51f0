// Package codes is the table of the codes of diagnostics; pkg/diag.Codes publishes it.
// docs/diagnostics.md describes each code.
package codes

// Code is a code of diagnostics, such as "UC203".
type Code string

// Entry describes a code.
type Entry struct {
	Code     Code
	Severity int // a diag.Severity: 0 for errors, 1 for warnings, 2 for notes
	Title    string
}

// Table has an entry for each code below, in their order.
var Table []Entry

func failure(code Code, title string) Code { return define(code, 0, title) }
func warning(code Code, title string) Code { return define(code, 1, title) }
func note(code Code, title string) Code    { return define(code, 2, title) }

func define(code Code, severity int, title string) Code {
	Table = append(Table, Entry{code, severity, title})
	return code
}

// Errors in the file, found before unions are read.
var (
	Syntax          = failure("UC101", "syntax error")
	InvalidUTF8     = failure("UC102", "not UTF-8")
	EmptyInput      = failure("UC103", "empty input")
	DuplicateKey    = failure("UC104", "duplicate key")
	AmbiguousScalar = failure("UC105", "ambiguous scalar")
	OldCRDVersion   = failure("UC106", "unsupported API version")
	UndecodableCRD  = failure("UC107", "undecodable CRD")
	OverLimit       = failure("UC108", "over a limit")
)

// Errors in a declaration, alone or against its schema.
var (
	UnknownKey             = failure("UC201", "unknown key")
	MalformedDeclaration   = failure("UC202", "malformed declaration")
	UnknownMember          = failure("UC203", "unknown member")
	UnknownDiscriminator   = failure("UC204", "unknown discriminator")
	InexpressibleName      = failure("UC205", "name that CEL cannot express")
	InvisibleProperty      = failure("UC206", "property that CEL cannot see")
	DiscriminatorNotString = failure("UC207", "unsupported type of discriminator")
	DiscriminatorIsMember  = failure("UC208", "discriminator is a member")
	DiscriminatorShared    = failure("UC209", "discriminator of two unions")
	DuplicateValue         = failure("UC210", "duplicate value")
	MemberShared           = failure("UC211", "member listed twice")
	NoMembers              = failure("UC212", "no members")
	EmptyValue             = failure("UC213", "empty value")
	MemberAlwaysSet        = failure("UC214", "member is always set")
	NotAnObject            = failure("UC215", "not an object with properties")
	InsideMetadata         = failure("UC216", "union inside metadata")
	InsideComposition      = failure("UC217", "union inside a composition")
	ValueNotInEnum         = failure("UC218", "value missing from the enum")
	EmptyIsUnsetType       = failure("UC219", "type without an empty value")
	Contradiction          = failure("UC220", "contradiction")
	UnknownChange          = failure("UC221", "change of unknown values")
	NotCorrelatable        = failure("UC222", "old and new cannot be correlated")
	Misplaced              = failure("UC223", "misplaced declaration")
	ExcludedValue          = failure("UC224", "value that the discriminator cannot have")
	NotCarried             = failure("UC225", "union that does not reach the API server")
	BadItem                = failure("UC226", "item that the keys of a list do not name")
)

// Reasons for the API server to reject the result.
var (
	RuleOverBudget    = failure("UC301", "rule over budget")
	VersionOverBudget = failure("UC302", "version over budget")
	KubeVersion       = failure("UC303", "Kubernetes version too old")
	InvalidResult     = failure("UC304", "invalid result")
	NotProved         = failure("UC306", "not proved")
)

// Obstacles to rewriting the file.
var (
	SharedContent      = failure("UC401", "shared content")
	BadAnnotation      = failure("UC402", "unreadable annotation")
	RuleChanged        = failure("UC403", "compiled rule gone or edited")
	AnnotationTooLarge = failure("UC404", "annotation too large")
	Unproved           = failure("UC405", "edit not possible or not proved")
	UnconfirmedRule    = failure("UC406", "unconfirmed rule")
	Forgotten          = failure("UC407", "declaration forgotten")
)

// Legal input that deserves a look.
var (
	DefaultedDiscriminator = warning("UC501", "discriminator with a default")
	VersionsDiffer         = warning("UC502", "versions differ")
	InvalidBefore          = warning("UC503", "invalid before compiling")
	RemovableItem          = warning("UC504", "item can be removed and added again")
	ManifestTooLarge       = warning("UC505", "manifest too large for client-side apply")
	ClearLeftOut           = note("UC506", "clear rule left out")
	MessageLost            = warning("UC507", "message not printed")
	HandWrittenRulePresent = note("UC508", "hand-written rule already present")
	NoEffect               = warning("UC509", "union without effect")
	CoarserEncoding        = note("UC510", "coarser encoding")
	RulesReplaced          = note("UC511", "hand-written rules replaced")
	RulesNotReplaced       = warning("UC512", "hand-written rules not replaced")
	UnusedMarkers          = warning("UC514", "markers without a CRD")
	SingleMember           = warning("UC515", "union of a single member")
	UnreadUnionSet         = warning("UC516", "UnionSet not read")
	HandWrittenConstraint  = warning("UC517", "hand-written constraint")
	LeftUndeclared         = warning("UC518", "union left undeclared")
	CRDInText              = warning("UC519", "CRD in a text")
	NoEnum                 = warning("UC520", "discriminator without an enum")
	ValueWithoutMember     = note("UC521", "value without a member")
	RequiredChildren       = note("UC522", "member with required children only")
	ListMember             = warning("UC523", "list or map as member")
	Undiscriminated        = note("UC524", "new union without a discriminator")
	CostlyRules            = warning("UC525", "rules above half a budget")
	VersionBypass          = warning("UC527", "bypass through a version")
	TableBypass            = warning("UC528", "bypass in allowedChanges")
	NeverUnchanged         = note("UC529", "union object never unchanged")
	UnusedDiscriminator    = warning("UC531", "discriminator not declared")
	FailingRule            = warning("UC532", "rule fails to evaluate")
	SharedValue            = note("UC533", "value of several members")
	AbsentMember           = note("UC534", "member absent from the schema")
	RuleRemoved            = warning("UC535", "compiled rule removed")
	StaleCRD               = warning("UC536", "CRD older than its Go type")
)

// Errors in markers in Go source.
var (
	GoPackage         = failure("UC601", "unreadable Go package")
	BadMarker         = failure("UC602", "bad marker")
	TwoDiscriminators = failure("UC603", "two discriminators")
	SpansStructs      = failure("UC604", "union spans structs")
)

// Errors in external declarations.
var (
	BadUnionSet       = failure("UC701", "bad UnionSet")
	NoSuchCRD         = failure("UC702", "no such CRD")
	NoSuchSchema      = failure("UC703", "no such schema")
	DeclaredTwice     = failure("UC704", "declared twice")
	BadFunctionConfig = failure("UC705", "bad functionConfig")
	BadConfig         = failure("UC706", "bad configuration")
	NoSuchUnion       = failure("UC707", "no such union")
)

// Findings in objects.
var (
	Normalized    = warning("UC801", "normalized")
	NotNormalized = failure("UC802", "not normalized")
	UnknownKind   = failure("UC803", "no object with a known union")
	Refused       = failure("UC804", "rejected by the API server")
	NoCRD         = failure("UC805", "no CRD for the object")
	TwoCRDs       = failure("UC806", "two CRDs for one kind")
	BadOldObject  = failure("UC807", "unusable old object")
	ServerWarning = warning("UC808", "warning of the API server")
	CostlyPolicy  = warning("UC809", "policy too costly for large objects")
	BadTests      = failure("UC810", "unusable tests")
	TestFailed    = failure("UC811", "failed test")
	StoredObject  = failure("UC812", "illegal stored object")
	PolicyGap     = warning("UC813", "not done by a policy")
)

// Errors in facts about a cluster.
var (
	UnusableFact       = failure("UC901", "unusable fact")
	ContradictoryFacts = failure("UC902", "contradictory facts")
)

// Differences between two CRDs.
var (
	Tighter   = failure("UC911", "rejected from now on")
	Undecided = warning("UC912", "change not decided")
	Looser    = note("UC913", "harmless change")
)

// Findings in hand-written rules.
var (
	FailsToEvaluate   = warning("UC921", "hand-written rule fails to evaluate")
	LooserThanMessage = warning("UC922", "rule looser than its message")
	NotEachItem       = warning("UC923", "rule not on each item")
	ImpossibleValue   = warning("UC924", "impossible value")
	NeverRejects      = warning("UC925", "rule that never rejects")
	AlwaysRejects     = warning("UC926", "rule that always rejects")
	SameRule          = warning("UC927", "same rule twice")
	OtherVersion      = warning("UC928", "rule missing in another version")
	CostlyRule        = warning("UC929", "costly rule")
	BlocksUpdates     = warning("UC930", "rule blocks updates")
	NotCompiling      = failure("UC931", "rule that does not compile")
	Bypassed          = warning("UC932", "immutability can be bypassed")
	NotDecided        = note("UC933", "rule not decided")
)
