// Package report has what the commands say about CRDs, and prints it.
//
// # Documents
//
// A [Document] has headings, paragraphs, tables, lists and code. It is printed as text for a
// terminal, and as Markdown for GitHub. Only the printers escape text from manifests, which must not
// move the cursor of a terminal or be interpreted as Markdown. [WriteSARIF] prints diagnostics as
// SARIF 2.1.0, for code scanning. [ShellQuote] and [ShellFile] quote words of commands that people
// copy into a shell.
//
// # Explanations
//
// An [Explanation] describes the result of compiling a CRD: the added rules, their costs, and the
// errors that users get. [Explain] turns a compilation plan into an Explanation, which is plain
// data, to be written as JSON; [ExplanationDocument] formats it for people. It makes no decisions
// itself. pkg/union defines the legal states and changes, the plan has the costs, internal/prove/verify finds
// examples of violations, and the API server's own validators return the errors.
//
// # Advice
//
// [Lint] checks the unions of the CRDs in a file without writing compiled files. It reports the
// diagnostics of compiling, and gives advice. Findings other than errors can be disabled by a
// [LintConfig]. [Fix] applies the edits of findings.
// Each piece of advice has a code, UC520 and up; docs/diagnostics.md describes its purpose.
//
// # Proofs
//
// [Verify] verifies the unions of a CRD for the command verify, and [ProofDocument] prints the
// result.
package report
