// Package unioncases holds the unions that several tests try: those of up to four
// members in all shapes ([Shapes]), those whose names CEL has to escape ([Escaped]), the
// places where their objects stand ([Places]),
// what is stored though the schema excludes it ([Stored]), and rules that do not say
// what the union next to them says ([HandWritten]). It is plain data. What it means is
// for pkg/union to say, and what a server makes of it for the tests: pkg/rules
// evaluates rules on it, test/e2e has an API server judge it, and test/compat every
// supported version of Kubernetes.
package unioncases
