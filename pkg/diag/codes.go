package diag

import (
	"slices"

	"github.com/unioncel/unioncel/internal/codes"
)

// Code identifies a kind of diagnostic, such as "UC203". A code is documented,
// keeps its meaning forever, and is never reused.
type Code string

// CodeInfo describes a code.
type CodeInfo struct {
	Code     Code
	Severity Severity // the default severity of diagnostics with this code
	Title    string   // a few words, for tables and headings
}

// Codes lists every code in ascending order.
var Codes = []CodeInfo{
	{codes.Syntax, Error, "syntax error"},
	{codes.InvalidUTF8, Error, "not UTF-8"},
	{codes.EmptyInput, Error, "empty input"},
	{codes.DuplicateKey, Error, "duplicate key"},
	{codes.AmbiguousScalar, Error, "ambiguous scalar"},
	{codes.OldCRDVersion, Error, "unsupported API version"},
	{codes.UndecodableCRD, Error, "undecodable CRD"},
	{codes.OverLimit, Error, "over a limit"},

	{codes.UnknownKey, Error, "unknown key"},
	{codes.MalformedDeclaration, Error, "malformed declaration"},
	{codes.UnknownMember, Error, "unknown member"},
	{codes.UnknownDiscriminator, Error, "unknown discriminator"},
	{codes.InexpressibleName, Error, "name that CEL cannot express"},
	{codes.InvisibleProperty, Error, "property that CEL cannot see"},
	{codes.DiscriminatorNotString, Error, "unsupported type of discriminator"},
	{codes.DiscriminatorIsMember, Error, "discriminator is a member"},
	{codes.DiscriminatorShared, Error, "discriminator of two unions"},
	{codes.DuplicateValue, Error, "duplicate value"},
	{codes.MemberShared, Error, "member listed twice"},
	{codes.NoMembers, Error, "no members"},
	{codes.EmptyValue, Error, "empty value"},
	{codes.MemberAlwaysSet, Error, "member is always set"},
	{codes.NotAnObject, Error, "not an object with properties"},
	{codes.InsideMetadata, Error, "union inside metadata"},
	{codes.InsideComposition, Error, "union inside a composition"},
	{codes.ValueNotInEnum, Error, "value missing from the enum"},
	{codes.EmptyIsUnsetType, Error, "type without an empty value"},
	{codes.Contradiction, Error, "contradiction"},
	{codes.UnknownChange, Error, "change of unknown values"},
	{codes.NotCorrelatable, Error, "old and new cannot be correlated"},
	{codes.Misplaced, Error, "misplaced declaration"},
	{codes.ExcludedValue, Error, "value that the discriminator cannot have"},
	{codes.NotCarried, Error, "union that does not reach the API server"},
	{codes.BadItem, Error, "item that the keys of a list do not name"},

	{codes.RuleOverBudget, Error, "rule over budget"},
	{codes.VersionOverBudget, Error, "version over budget"},
	{codes.KubeVersion, Error, "Kubernetes version too old"},
	{codes.InvalidResult, Error, "invalid result"},
	{codes.NotProved, Error, "not proved"},

	{codes.SharedContent, Error, "shared content"},
	{codes.BadAnnotation, Error, "unreadable annotation"},
	{codes.RuleChanged, Error, "compiled rule gone or edited"},
	{codes.AnnotationTooLarge, Error, "annotation too large"},
	{codes.Unproved, Error, "edit not possible or not proved"},
	{codes.UnconfirmedRule, Error, "unconfirmed rule"},
	{codes.Forgotten, Error, "declaration forgotten"},

	{codes.DefaultedDiscriminator, Warning, "discriminator with a default"},
	{codes.VersionsDiffer, Warning, "versions differ"},
	{codes.InvalidBefore, Warning, "invalid before compiling"},
	{codes.RemovableItem, Warning, "item can be removed and added again"},
	{codes.ManifestTooLarge, Warning, "manifest too large for client-side apply"},
	{codes.ClearLeftOut, Info, "clear rule left out"},
	{codes.MessageLost, Warning, "message not printed"},
	{codes.HandWrittenRulePresent, Info, "hand-written rule already present"},
	{codes.NoEffect, Warning, "union without effect"},
	{codes.CoarserEncoding, Info, "coarser encoding"},
	{codes.RulesReplaced, Info, "hand-written rules replaced"},
	{codes.RulesNotReplaced, Warning, "hand-written rules not replaced"},
	{codes.UnusedMarkers, Warning, "markers without a CRD"},
	{codes.SingleMember, Warning, "union of a single member"},
	{codes.UnreadUnionSet, Warning, "UnionSet not read"},
	{codes.HandWrittenConstraint, Warning, "hand-written constraint"},
	{codes.LeftUndeclared, Warning, "union left undeclared"},
	{codes.CRDInText, Warning, "CRD in a text"},
	{codes.NoEnum, Warning, "discriminator without an enum"},
	{codes.ValueWithoutMember, Info, "value without a member"},
	{codes.RequiredChildren, Info, "member with required children only"},
	{codes.ListMember, Warning, "list or map as member"},
	{codes.Undiscriminated, Info, "new union without a discriminator"},
	{codes.CostlyRules, Warning, "rules above half a budget"},
	{codes.VersionBypass, Warning, "bypass through a version"},
	{codes.TableBypass, Warning, "bypass in allowedChanges"},
	{codes.NeverUnchanged, Info, "union object never unchanged"},
	{codes.UnusedDiscriminator, Warning, "discriminator not declared"},
	{codes.FailingRule, Warning, "rule fails to evaluate"},
	{codes.SharedValue, Info, "value of several members"},
	{codes.AbsentMember, Info, "member absent from the schema"},
	{codes.RuleRemoved, Warning, "compiled rule removed"},

	{codes.GoPackage, Error, "unreadable Go package"},
	{codes.BadMarker, Error, "bad marker"},
	{codes.TwoDiscriminators, Error, "two discriminators"},
	{codes.SpansStructs, Error, "union spans structs"},

	{codes.BadUnionSet, Error, "bad UnionSet"},
	{codes.NoSuchCRD, Error, "no such CRD"},
	{codes.NoSuchSchema, Error, "no such schema"},
	{codes.DeclaredTwice, Error, "declared twice"},
	{codes.BadFunctionConfig, Error, "bad functionConfig"},
	{codes.BadConfig, Error, "bad configuration"},
	{codes.NoSuchUnion, Error, "no such union"},

	{codes.Normalized, Warning, "normalized"},
	{codes.NotNormalized, Error, "not normalized"},
	{codes.UnknownKind, Error, "no object with a known union"},
	{codes.Refused, Error, "rejected by the API server"},
	{codes.NoCRD, Error, "no CRD for the object"},
	{codes.TwoCRDs, Error, "two CRDs for one kind"},
	{codes.BadOldObject, Error, "unusable old object"},
	{codes.ServerWarning, Warning, "warning of the API server"},
	{codes.CostlyPolicy, Warning, "policy too costly for large objects"},
	{codes.BadTests, Error, "unusable tests"},
	{codes.TestFailed, Error, "failed test"},
	{codes.StoredObject, Error, "illegal stored object"},
	{codes.PolicyGap, Warning, "not done by a policy"},

	{codes.UnusableFact, Error, "unusable fact"},
	{codes.ContradictoryFacts, Error, "contradictory facts"},

	{codes.Tighter, Error, "rejected from now on"},
	{codes.Undecided, Warning, "change not decided"},
	{codes.Looser, Info, "harmless change"},

	{codes.FailsToEvaluate, Warning, "hand-written rule fails to evaluate"},
	{codes.LooserThanMessage, Warning, "rule looser than its message"},
	{codes.NotEachItem, Warning, "rule not on each item"},
	{codes.ImpossibleValue, Warning, "impossible value"},
	{codes.NeverRejects, Warning, "rule that never rejects"},
	{codes.AlwaysRejects, Warning, "rule that always rejects"},
	{codes.SameRule, Warning, "same rule twice"},
	{codes.OtherVersion, Warning, "rule missing in another version"},
	{codes.CostlyRule, Warning, "costly rule"},
	{codes.BlocksUpdates, Warning, "rule blocks updates"},
	{codes.NotCompiling, Error, "rule that does not compile"},
}

// Info returns the entry of the code in [Codes], and whether there is one.
func (c Code) Info() (CodeInfo, bool) {
	i := slices.IndexFunc(Codes, func(info CodeInfo) bool { return info.Code == c })
	if i < 0 {
		return CodeInfo{}, false
	}
	return Codes[i], true
}
