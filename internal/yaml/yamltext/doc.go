// Package yamltext locates the bytes of YAML nodes, so that manifests can be edited as text and
// need not be encoded again.
//
// [Parse] splits a stream into documents and parses each of them with yaml.v3. yaml.v3 records the
// start of a node but not its end; [File.Span] and [File.EntrySpan] return both. [Apply] applies
// edits to the source. [Lookup], [String], [DuplicateKeys] and [JSON] read a document as other
// programs do: kubectl reads YAML 1.1 through sigs.k8s.io/yaml, and yaml.v3 mostly reads YAML 1.2.
// If the two disagree, the caller gets an error.
//
// Spans are never guessed. A walk over the source follows the parsed nodes and accounts for every
// byte between them. If the text does not match the nodes, Span returns an error.
//
// JSON is accepted as YAML, including flow collections, tabs and one-line files. Escapes that only
// JSON has, such as surrogate pairs, are read as in JSON. Half of a pair is U+FFFD, as in kubectl
// and the API server.
package yamltext
