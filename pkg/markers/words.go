package markers

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// english are the keys that are also words of plain English.
const english = `members|discriminator|name|cardinality`

// keyed finds the keys of declarations in a text. It matches quoted text and markers, too,
// which stay as they are. English words count if they have a value, or are to be deleted.
var keyed = func() *regexp.Regexp {
	others := slices.DeleteFunc(union.Keys(), regexp.MustCompile("^(?:"+english+")$").MatchString)
	return regexp.MustCompile(`"(?:[^"\\]|\\.)*"` +
		`|\+unioncel:\S+` +
		`|in fields-to-discriminateBy\b` +
		`|\b(?:` + strings.Join(others, "|") + `)\b(?:: (?:\{[^}]*\}|\[[^]]*\]|[A-Za-z]+))?` +
		`|\b(?:` + english + `): (?:\[[^]]*\]|[A-Za-z]+)` +
		`|\b(?:delete cardinality\b|cardinality (?:AtLeastOne|must)\b)`)
}()

// Words makes diagnostics at markers name markers, where they name the keys of a
// declaration in YAML. The list is changed in place.
func Words(l diag.List) {
	for i := range l {
		if filepath.Ext(l[i].Pos.File) == ".go" {
			l[i].Message, l[i].Hint = inGo(l[i].Message), inGo(l[i].Hint)
		}
	}
}

// asMarkers replaces keys of schemas by the markers that controller-gen has for them.
var asMarkers = strings.NewReplacer(" in the declaration", "",
	"x-kubernetes-list-type: map with x-kubernetes-list-map-keys", "+listType=map with +listMapKey")

// orInGo is what a hint for YAML says before the one for Go.
const orInGo = ", or in Go "

func inGo(text string) string {
	if _, markers, ok := strings.Cut(text, orInGo); ok {
		return "write " + markers
	}
	text = keyed.ReplaceAllStringFunc(text, func(found string) string {
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
