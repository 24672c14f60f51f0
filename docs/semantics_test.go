package docs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// subject is the union that a part of the document describes.
type subject struct {
	*union.Union
	schema *apiextensionsv1.JSONSchemaProps
	text   string // source of the schema
}

// read reads a schema with one declaration.
func read(t *testing.T, text string) subject {
	t.Helper()
	var parts struct {
		Unions yaml.Node `yaml:"x-kubernetes-unions"`
	}
	s := subject{schema: &apiextensionsv1.JSONSchemaProps{}, text: text}
	if err := yaml.Unmarshal([]byte(text), &parts); err != nil {
		t.Fatal(err)
	}
	if err := sigsyaml.Unmarshal([]byte(text), s.schema); err != nil {
		t.Fatal(err)
	}
	declarations, diags := union.Parse("semantics.md", "spec", &parts.Unions, nil)
	unions, more := union.Resolve(declarations, s.schema, false)
	if diags = append(diags, more...); diags.HasErrors() {
		t.Fatalf("%s\n%v", text, diags)
	}
	s.Union = unions[0]
	return s
}

var directive = regexp.MustCompile(`^<!-- ([a-z]+)((?: [^ ]+)*) -->$`)

// TestSemantics checks semantics.md. A comment describes the block or the table
// that follows it:
//
//	union       a schema with a declaration: the subject of the following parts. A declaration
//	            alone has the schema of the subject before
//	static      its static rules, as CEL (arguments: numbers of the rules)
//	change      its rule about changes
//	guard LINK  its removal guard on the parent of a property
//	output      the output of unioncel compile (arguments: flags)
//	states      the allowed states
//	changes     the allowed changes
//	presence    the values of each member that count as unset, and as set
//	update      old and new object; the next block has the server's errors
//	keys        the keys of a declaration
func TestSemantics(t *testing.T) {
	d := open(t, "semantics.md")
	var s subject
	seen := map[string]bool{}
	for i := 0; i < len(d.lines); i++ {
		found := directive.FindStringSubmatch(d.lines[i])
		if found == nil {
			continue
		}
		verb, args := found[1], strings.Fields(found[2])
		seen[verb] = true
		blocks := func(n int) []block {
			l := d.blocks(t, i, len(d.lines))
			if len(l) < n || l[0].from != i+2 {
				t.Fatalf("%s:%d: no block follows", d.name, i+1)
			}
			return l[:n]
		}
		show := func(text string) { b := blocks(1)[0]; d.generated(t, b.from, b.to, text) }
		table := func(text string) {
			end := i + 1
			for end < len(d.lines) && strings.HasPrefix(d.lines[end], "|") {
				end++
			}
			d.generated(t, i+1, end, text)
		}
		switch verb {
		case "union":
			text := blocks(1)[0].text
			if strings.HasPrefix(text, union.Key) {
				above, _, _ := strings.Cut(s.text, union.Key)
				text = above + text
			}
			s = read(t, text)
		case "static":
			l := rules.Static(s.Union, rules.Paired)
			if len(args) > 0 {
				var some []rules.Rule
				for _, number := range args {
					n, err := strconv.Atoi(number)
					if err != nil || n < 1 || n > len(l) {
						t.Fatalf("%s:%d: no rule %s of %d", d.name, i+1, number, len(l))
					}
					some = append(some, l[n-1])
				}
				l = some
			}
			show(text(l))
		case "change":
			l := rules.Transition(s.Union, rules.Comparison{})
			if len(l) == 0 {
				t.Fatalf("%s:%d: no rule", d.name, i+1)
			}
			s.harmless(t)
			show(text(l))
		case "guard":
			r, ok := rules.RemovalGuard(s.Union, args)
			if !ok {
				t.Fatalf("%s:%d: no rule", d.name, i+1)
			}
			show(text([]rules.Rule{r}))
		case "output":
			show(s.output(t, args))
		case "states":
			table(s.states())
		case "changes":
			table(s.changes(t))
		case "presence":
			table(s.presence())
		case "update":
			l := blocks(2)
			d.generated(t, l[1].from, l[1].to, s.errors(t, l[0].text))
		case "keys":
			d.keys(t, i+1)
		default:
			t.Errorf("%s:%d: no such directive", d.name, i+1)
		}
	}
	for _, verb := range []string{"union", "static", "change", "guard", "output", "states", "changes", "presence", "update", "keys"} {
		if !seen[verb] {
			t.Errorf("%s shows nothing of the kind %q", d.name, verb)
		}
	}
	d.save(t)
}

// text formats rules as CEL, each below its error message.
func text(l []rules.Rule) string {
	var b strings.Builder
	for i, r := range l {
		if i > 0 {
			b.WriteString("\n")
		}
		kind := map[rules.Reason]string{
			rules.ReasonForbidden: "Forbidden", rules.ReasonRequired: "Required value", rules.ReasonInvalid: "Invalid value",
		}[r.Reason]
		if r.FieldPath != "" {
			kind = r.FieldPath + ": " + kind
		}
		fmt.Fprintf(&b, "// %s: %s\n%s\n", kind, r.Message, r.Rule)
	}
	return b.String()
}

var blanks = regexp.MustCompile(`^ *`)

// output compiles a CRD with the subject's schema as its spec and returns all rules in the result,
// as they are written.
func (s subject) output(t *testing.T, flags []string) string {
	t.Helper()
	opts := crdpatch.Options{NoAnnotation: true}
	if len(flags) == 2 && flags[0] == "--kube-version" {
		opts.KubeVersion = flags[1]
	} else if len(flags) > 0 {
		t.Fatalf("no such flags: %v", flags)
	}
	m := open(t, examplesFile).readTemplates(t)
	out, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(m.file("spec:\n"+indent(s.text, 2)))), opts)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var b strings.Builder
	within, all := -1, strings.SplitAfter(string(out), "\n")
	for i, line := range all {
		margin := len(blanks.FindString(line))
		switch {
		case strings.TrimSpace(line) == "x-kubernetes-validations:":
			within = margin
			for above := i; ; above-- {
				if at := len(blanks.FindString(all[above])); at < margin {
					b.WriteString(all[above][at:]) // the key of the schema with the rules
					break
				}
			}
		case within >= 0 && (margin < within || margin == within && line[margin] != '-'):
			within = -1
		}
		if within >= 0 {
			b.WriteString("  " + line[within:])
		}
	}
	return b.String()
}

// state is a state with its name in tables.
type state struct {
	name string
	union.State
}

func code(names ...string) string {
	l := make([]string, len(names))
	for i, n := range names {
		l[i] = "`" + n + "`"
	}
	return strings.Join(l, ", ")
}

// presences returns all sets of members.
func (s subject) presences() []state {
	var l []state
	for set := range 1 << len(s.Members) {
		p := state{State: union.State{Present: make([]bool, len(s.Members))}}
		var names []string
		for i, m := range s.Members {
			if set>>i&1 == 1 {
				p.Present[i] = true
				names = append(names, m.Name)
			}
		}
		if p.name = code(names...); len(names) == 0 {
			p.name = "none"
		}
		l = append(l, p)
	}
	return l
}

// states returns a table of all states, with a row for each value and a column for each set of
// members.
func (s subject) states() string {
	values := []state{{name: "members set"}}
	if s.Discriminator != "" {
		values = []state{{name: "unset"}}
		if s.Unset != "" {
			values = nil
		}
		values = append(values, s.valued()...)
		if s.Type != union.BooleanValue && len(s.schema.Properties[s.Discriminator].Enum) == 0 {
			values = append(values, state{name: "any other", State: union.State{Value: "any other"}})
		}
	}
	head := []string{""}
	if s.Discriminator != "" {
		head[0] = code(s.Discriminator)
	}
	for _, p := range s.presences() {
		head = append(head, p.name)
	}
	rows := [][]string{head}
	for _, v := range values {
		row := []string{v.name}
		for _, p := range s.presences() {
			p.Value = v.Value
			row = append(row, s.verdict(s.Judge(nil, p.State)))
		}
		rows = append(rows, row)
	}
	return grid(rows)
}

// valued returns a state for each known value.
func (s subject) valued() (l []state) {
	for _, v := range s.Values {
		name := code(v)
		if v == s.Unset {
			name += " or unset"
		}
		l = append(l, state{name: name, State: union.State{Value: v}})
	}
	return l
}

// verdict describes the violations of a state briefly.
func (s subject) verdict(violations []union.Violation) string {
	if len(violations) == 0 {
		return "**yes**"
	}
	var l []string
	for _, v := range violations {
		switch v.Condition {
		case union.Forbidden:
			l = append(l, s.Members[v.Member].Name+" forbidden")
		case union.Required:
			l = append(l, s.Members[v.Member].Name+" required")
		case union.Selected:
			l = append(l, s.Discriminator+" required")
		case union.Unmapped:
			l = append(l, s.Discriminator+" unmapped")
		case union.TooMany:
			l = append(l, "too many")
		case union.TooFew:
			l = append(l, "too few")
		}
	}
	return strings.Join(l, ", ")
}

// changes returns a table of the changes between legal states, with one state per selection.
func (s subject) changes(t *testing.T) string {
	t.Helper()
	legal := []state{{name: "unset", State: union.State{Present: make([]bool, len(s.Members))}}}
	if s.Discriminator == "" {
		for i, m := range s.Members {
			p := state{name: code(m.Name), State: union.State{Present: make([]bool, len(s.Members))}}
			p.Present[i] = true
			legal = append(legal, p)
		}
	}
	for _, v := range s.Values {
		p := state{name: code(v), State: union.State{Value: v, Present: make([]bool, len(s.Members))}}
		for _, i := range s.MembersOf(v) {
			p.Present[i] = true
		}
		legal = append(legal, p)
	}
	head := []string{"from \\ to"}
	for _, to := range legal {
		if l := s.Judge(nil, to.State); len(l) > 0 {
			t.Fatalf("%s is not legal: %v", to.name, l)
		}
		head = append(head, to.name)
	}
	answer := map[bool]string{true: "**yes**", false: "no"}
	rows := [][]string{append(head, "object removed")}
	for _, from := range legal {
		row := []string{from.name}
		for _, to := range legal {
			row = append(row, answer[len(s.Judge(&from.State, to.State)) == 0])
		}
		rows = append(rows, append(row, answer[s.Removable(from.State)]))
	}
	return grid(rows)
}

// harmless checks two guarantees of the document: rules about changes hold if the state is
// unchanged, and Clear rejects no legal state.
func (s subject) harmless(t *testing.T) {
	t.Helper()
	var all []union.State
	for _, v := range append([]string{"", "any other"}, s.Values...) {
		for _, p := range s.presences() {
			p.Value = v
			all = append(all, p.State)
		}
	}
	for _, old := range all {
		for _, new := range all {
			if s.Discriminator == "" && old.Value+new.Value != "" {
				continue
			}
			same := old.Equal(new)
			legal := s.Change == union.Clear && len(s.Violations(new)) == 0
			if l := s.ChangeViolations(old, new); (same || legal) && len(l) > 0 {
				t.Errorf("%v: %v -> %v: %v", s.Union, old, new, l)
			}
		}
	}
}

// presence returns a table of the members with values that are unset and values that are set.
func (s subject) presence() string {
	rows := [][]string{{"member", "unset", "set"}}
	of := map[string][]any{
		"string": {"", "x"}, "array": {[]any{}, []any{"x"}},
		"object":  {map[string]any{}, map[string]any{"key": nil}, map[string]any{"key": "x"}},
		"boolean": {false, true}, "integer": {int64(0), int64(1)}, "number": {int64(0), 0.5},
	}
	for i, m := range s.Members {
		var unset, set []string
		for _, v := range append([]any{nil}, of[s.schema.Properties[m.Name].Type]...) {
			name, err := json.Marshal(v)
			if err != nil {
				panic(err)
			}
			if s.StateOf(map[string]any{m.Name: v}).Present[i] {
				set = append(set, string(name))
			} else {
				unset = append(unset, string(name))
			}
		}
		rows = append(rows, []string{code(m.Name), "absent, " + code(unset...), code(set...)})
	}
	return grid(rows)
}

func grid(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return strings.Replace(b.String(), "|  |", "| |", 1)
}

// errors returns the errors of the API server's own validator for an object or, with old, an
// update.
func (s subject) errors(t *testing.T, objects string) string {
	t.Helper()
	var update struct{ Old, New map[string]any }
	if err := sigsyaml.Unmarshal([]byte(objects), &update); err != nil {
		t.Fatal(err)
	}
	l := rules.Static(s.Union, rules.Paired)
	l = append(l, rules.Transition(s.Union, rules.Comparison{})...)
	schema := s.schema.DeepCopy()
	for _, r := range l {
		reason := apiextensionsv1.FieldValueErrorReason(r.Reason)
		v := apiextensionsv1.ValidationRule{Rule: r.Rule, Message: r.Message, MessageExpression: r.MessageExpression, FieldPath: r.FieldPath, Reason: &reason}
		if r.OptionalOldSelf {
			v.OptionalOldSelf = &r.OptionalOldSelf
		}
		schema.XValidations = append(schema.XValidations, v)
	}
	var in apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, &in, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(&in)
	if err != nil {
		t.Fatal(err)
	}
	var old any
	if update.Old != nil {
		old = update.Old
	}
	errs, _ := cel.NewValidator(structural, false, celconfig.PerCallLimit).
		Validate(context.Background(), field.NewPath("spec"), structural, update.New, old, math.MaxInt64)
	var b strings.Builder
	for _, e := range errs {
		// The server omits the value of an object, too.
		if _, ok := e.BadValue.(map[string]any); ok || e.BadValue == nil {
			e.BadValue = field.OmitValueType{}
		}
		fmt.Fprintln(&b, e)
	}
	return b.String()
}

var keyRow = regexp.MustCompile("^\\| `(([\\w-]+): [^`]+)` \\| [^|]+ \\| [^|]+ \\|$")

// keys checks that the table of a declaration's keys is complete, and that its examples are valid.
func (d *document) keys(t *testing.T, from int) {
	t.Helper()
	// The diagnostic for an unknown key that resembles no other lists all keys.
	_, diags := union.Parse("", "", listOf(t, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx: 1"), nil)
	names, ok := strings.CutPrefix(diags[0].Hint, "the keys are ")
	if !ok || diags[0].Code != codes.UnknownKey {
		t.Fatalf("%v", diags)
	}
	missing := strings.Split(names, ", ")
	for i := from + 2; strings.HasPrefix(d.lines[i], "|"); i++ {
		row := keyRow.FindStringSubmatch(d.lines[i])
		if row == nil {
			t.Errorf("%s:%d: not the row of a key", d.name, i+1)
			continue
		}
		example, key := row[1], row[2]
		n := slices.Index(missing, key)
		if n < 0 {
			t.Errorf("%s:%d: %s is no key", d.name, i+1, key)
			continue
		}
		missing = slices.Delete(missing, n, n+1)
		declaration := map[string]any{"discriminator": "type", "fields-to-discriminateBy": map[string]any{"http": "HTTP", "tcp": "TCP"}}
		if key == "members" || strings.HasPrefix(key, "dependent") {
			declaration = map[string]any{}
		}
		if err := sigsyaml.Unmarshal([]byte(example), &declaration); err != nil || declaration[key] == nil {
			t.Errorf("%s:%d: %s: %v", d.name, i+1, example, err)
			continue
		}
		schema, err := sigsyaml.Marshal(map[string]any{"type": "object", "x-kubernetes-unions": []any{declaration}, "properties": map[string]any{
			"type": map[string]any{"type": "string"},
			"http": map[string]any{"type": "object", "properties": map[string]any{"host": map[string]any{"type": "string"}}},
			"tcp":  map[string]any{"type": "object"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		read(t, string(schema))
	}
	if len(missing) > 0 {
		t.Errorf("%s does not document the keys %v", d.name, missing)
	}
}

func listOf(t *testing.T, item string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(item), &doc); err != nil {
		t.Fatal(err)
	}
	return &yaml.Node{Kind: yaml.SequenceNode, Content: doc.Content}
}
