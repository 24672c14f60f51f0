package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/union"
)

// relation is the condition that a member must be set, or must not be set, while one of others is
// set.
type relation struct {
	member    int
	condition union.Condition
	others    []int
}

// relationsOf returns the presence relations of a union, in the order of its conditions.
func relationsOf(u *union.Union) []relation {
	var l []relation
	for i := range u.Members {
		if by := u.ForbiddenBy(i); len(by) > 0 {
			l = append(l, relation{i, union.Forbidden, by})
		}
		if by := u.RequiredBy(i); len(by) > 0 {
			l = append(l, relation{i, union.Required, by})
		}
	}
	return l
}

// message returns the generated message of a relation.
func (r relation) message(u *union.Union) string {
	var others []string
	for _, i := range r.others {
		others = append(others, u.Members[i].Name)
	}
	when := fmt.Sprintf("when %s is set", conjoined(others, "or"))
	if r.condition == union.Forbidden {
		return fmt.Sprintf("%s may not be set %s", u.Members[r.member].Name, when)
	}
	return fmt.Sprintf("%s is required %s", u.Members[r.member].Name, when)
}

// related returns the rule of a relation.
func (o variable) related(r relation) statement {
	holds, reason := cel.Or(cel.Not(o.any(r.others)), o.present(r.member)), ReasonRequired
	if r.condition == union.Forbidden {
		holds, reason = cel.Not(cel.And(o.any(r.others), o.present(r.member))), ReasonForbidden
	}
	return state(o.u, holds, reason, o.u.Members[r.member].Name, r.message(o.u), r.condition)
}

// relations returns the rules of presence relations, joined into at most the given number of rules.
func (o variable) relations(groups int) []statement {
	var l []statement
	for _, part := range split(relationsOf(o.u), groups) {
		if len(part) == 1 {
			l = append(l, o.related(part[0]))
			continue
		}
		var holds []cel.Expr
		var conditions []union.Condition
		var situations []situation
		var messages []string
		for _, r := range part {
			message, one := r.message(o.u), o.related(r).holds
			holds, messages = append(holds, one), append(messages, message)
			situations = append(situations, situation{cel.Not(one), o.u.Members[r.member].Name, r.condition, cel.String(labelled(o.u, message))})
			if !slices.Contains(conditions, r.condition) {
				conditions = append(conditions, r.condition)
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

// relationSchemas returns one schema for each presence relation; an object has to match all of them.
func relationSchemas(u *union.Union) []schema {
	required := eachRequired(u)
	var l []schema
	for _, r := range relationsOf(u) {
		var others []schema
		for _, i := range r.others {
			others = append(others, required[i])
		}
		then := required[r.member]
		if r.condition == union.Forbidden {
			then = none([]schema{then})
		}
		l = append(l, schema{AnyOf: []schema{none(others), then}})
	}
	return l
}
