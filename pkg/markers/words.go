package markers

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// wording are the keys that are also English words.
const wording = `members|discriminator|message|name|cardinality|unset`

// keyed matches the keys of declarations in a text, and also quoted text and markers, which stay as
// they are. An English word counts as a key if it has a value or is to be deleted.
var keyed = sync.OnceValue(func() *regexp.Regexp {
	others := slices.DeleteFunc(union.Keys(), regexp.MustCompile("^(?:"+wording+")$").MatchString)
	return regexp.MustCompile(`"(?:[^"\\]|\\.)*"` +
		`|\+unioncel:\S+|\+k8s:\w+` +
		`|in fields-to-discriminateBy\b` +
		`|\b(?:` + strings.Join(others, "|") + `)\b(?:: (?:\{[^}]*\}|\[[^]]*\]|[A-Za-z]+))?` +
		`|\b(?:` + wording + `): (?:\[[^]]*\]|[A-Za-z]+)` +
		`|\b(?:delete cardinality\b|cardinality (?:AtLeastOne|must)\b)`)
})

// Words replaces the keys of declarations with markers in the diagnostics about Go files. It
// changes the list in place.
func Words(l diag.List) {
	for i := range l {
		if filepath.Ext(l[i].Pos.File) == ".go" {
			l[i].Message, l[i].Hint = inGo(l[i].Message), inGo(l[i].Hint)
		}
	}
}

// asMarkers replaces keys of schemas with controller-gen's markers for them.
var asMarkers = strings.NewReplacer(" in the declaration", "",
	"optional properties without a default", "optional fields (+optional, or omitempty in the JSON tag) without a default",
	"x-kubernetes-list-type: map with x-kubernetes-list-map-keys", "+listType=map with +listMapKey")

// onFields replaces keys of declarations with the markers on fields that set them.
var onFields = strings.NewReplacer(
	"fields-to-discriminateBy: "+union.Example("fields-to-discriminateBy"), "+unioncel:union:values="+example(valuesKey),
	"optionalMembers: "+union.Example("optionalMembers"), "+unioncel:union:optional="+example(optionalKey),
	"fields-to-discriminateBy", "+unioncel:union:values",
	"optionalMembers", "+unioncel:union:optional",
)

// orInGo separates the YAML part of a hint from its Go part.
const orInGo = ", or in Go "

func inGo(text string) string {
	if _, markers, ok := strings.Cut(text, orInGo); ok {
		return "write " + markers
	}
	text = keyed().ReplaceAllStringFunc(text, func(found string) string {
		switch {
		case found[0] == '"' || found[0] == '+':
			return found
		case found == "in fields-to-discriminateBy":
			return "with +" + ownPrefix + ":" + valuesKey
		case strings.HasPrefix(found, "delete "):
			return "delete +" + ownPrefix + ":" + strings.TrimPrefix(found, "delete ")
		}
		found = "+" + ownPrefix + ":" + found
		key, value, ok := strings.Cut(found, " ")
		if !ok || value == "want" || value == "must" {
			return found
		}
		return strings.TrimSuffix(key, ":") + "=" + inMarker(value)
	})
	return asMarkers.Replace(text)
}
