// Package unions is an analyzer for kube-api-linter. It checks the union markers of API types
// against each other, and against the rules of the generated CRDs. Importing it registers the
// analyzer.
package unions

import (
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/kube-api-linter/pkg/analysis/initializer"
	"sigs.k8s.io/kube-api-linter/pkg/analysis/registry"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/markers"
)

// Name is the name of the analyzer.
const Name = "unions"

// Config is the configuration of the analyzer.
type Config struct {
	// CRDs is the directory of the generated CRDs, relative to the root of the module. Without it,
	// the analyzer checks only the markers.
	CRDs string `json:"crds"`
}

func init() { registry.DefaultRegistry().RegisterLinter(Initializer()) }

// Initializer returns the initializer of the analyzer, which is enabled by default.
func Initializer() initializer.AnalyzerInitializer {
	return initializer.NewConfigurableInitializer(Name, New, true, validate)
}

func validate(cfg *Config, path *field.Path) field.ErrorList {
	if filepath.IsAbs(cfg.CRDs) {
		return field.ErrorList{field.Invalid(path.Child("crds"), cfg.CRDs, "must be relative to the root of the module")}
	}
	return nil
}

// New returns an analyzer. A nil configuration is the default one.
func New(cfg *Config) (*analysis.Analyzer, error) {
	if cfg == nil {
		cfg = &Config{}
	}
	return &analysis.Analyzer{
		Name: Name,
		Doc:  "Checks union markers against each other and against the rules of the generated CRDs",
		URL:  "https://github.com/unioncel/unioncel/tree/main/contrib/kube-api-linter",
		Run:  func(pass *analysis.Pass) (any, error) { return nil, run(pass, *cfg) },
	}, nil
}

func run(pass *analysis.Pass, cfg Config) error {
	s := newSource(pass)
	if !s.marked() {
		return nil
	}
	set, found := markers.Load(markers.Options{Dir: s.dir, CRDs: cfg.CRDs != ""}, ".")
	if set == nil && !slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return s.has(d.Pos) }) {
		return errors.New(found[0].String())
	}
	found = slices.DeleteFunc(found, func(d diag.Diagnostic) bool {
		// A pass has one package: the kinds that use a struct may be in others.
		return d.Code == unusedMarkers && strings.HasPrefix(d.Message, "no CRD of these packages has ")
	})
	if cfg.CRDs != "" && set != nil {
		more, err := crds{source: s, dir: cfg.CRDs, unions: set}.check()
		if err != nil {
			return err
		}
		found = append(found, more...)
	}
	type finding struct {
		pos     diag.Pos
		message string
	}
	reported := map[finding]bool{}
	for _, d := range found.Sort() {
		// A struct can be at several paths of its CRDs.
		f := finding{d.Pos, d.Message}
		if d.Severity == diag.Info || reported[f] || !s.has(d.Pos) {
			continue
		}
		reported[f] = true
		pass.Report(s.diagnostic(d))
	}
	return nil
}

// aboutUnions matches markers about unions, even if misspelt, and the marker of packages with kinds.
var aboutUnions = regexp.MustCompile(`(?im)^(//)?\s*\+.*(union|oneof|member|discriminator|ifmode|groupname)`)

// marked reports whether the package may have union markers. Other packages need not be loaded.
func (s *source) marked() bool {
	for _, f := range s.pass.Files {
		if !s.has(diag.Pos{File: s.pass.Fset.File(f.FileStart).Name()}) {
			continue
		}
		for _, group := range f.Comments {
			for _, c := range group.List {
				if aboutUnions.MatchString(c.Text) {
					return true
				}
			}
		}
	}
	return false
}
