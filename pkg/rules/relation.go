package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/union"
)

// relationMessage returns the generated message of a relation.
func relationMessage(u *union.Union, r union.Relation) string {
	when := fmt.Sprintf("when %s is set", conjoined(u.NamesOf(r.Others), "or"))
	if r.Condition == union.Forbidden {
		return fmt.Sprintf("%s may not be set %s", u.Members[r.Member].Name, when)
	}
	return fmt.Sprintf("%s is required %s", u.Members[r.Member].Name, when)
}

// related returns the rule of a relation.
func (o variable) related(r union.Relation) statement {
	holds, reason := cel.Or(cel.Not(o.any(r.Others)), o.present(r.Member)), ReasonRequired
	if r.Condition == union.Forbidden {
		holds, reason = cel.Not(cel.And(o.any(r.Others), o.present(r.Member))), ReasonForbidden
	}
	return state(o.u, holds, reason, o.u.Members[r.Member].Name, relationMessage(o.u, r), r.Condition)
}

// relations returns the rules of presence relations, joined into at most the given number of rules.
func (o variable) relations(groups int) []statement {
	var l []statement
	for _, part := range split(o.u.Relations(), groups) {
		if len(part) == 1 {
			l = append(l, o.related(part[0]))
			continue
		}
		var holds []cel.Expr
		var conditions []union.Condition
		var situations []situation
		var messages []string
		for _, r := range part {
			message, one := relationMessage(o.u, r), o.related(r).holds
			holds, messages = append(holds, one), append(messages, message)
			situations = append(situations, situation{cel.Not(one), o.u.Members[r.Member].Name, r.Condition, cel.String(labelled(o.u, message))})
			if !slices.Contains(conditions, r.Condition) {
				conditions = append(conditions, r.Condition)
			}
		}
		s := state(o.u, cel.And(holds...), ReasonInvalid, "", relationsMessage(messages), conditions...)
		s.tell(o.u, len(part), true, situations...)
		l = append(l, s)
	}
	return l
}

// relationsMessage joins the messages of relations. It cuts long texts.
func relationsMessage(messages []string) string {
	text := strings.Join(messages, "; ")
	for n := len(messages) - 1; len(text) > maxRelations && n > 0; n-- {
		text = fmt.Sprintf("%s; and %d more", strings.Join(messages[:n], "; "), len(messages)-n)
	}
	return text
}

// maxRelations is the maximum length of relations in a message, unless there is only one.
const maxRelations = 400
