// Package unioncases provides unions for the tests of several packages: unions of up to four
// members in all shapes ([Shapes]), with names that CEL must escape ([Escaped]), at various paths
// ([Places]), with stored objects that the schema excludes ([Stored]), and next to hand-written
// rules that disagree with them ([HandWritten]). The package contains data only. pkg/union defines
// its meaning. pkg/rules evaluates rules on it, test/e2e sends it to an API server, and test/compat
// validates it with every supported version of Kubernetes.
package unioncases
