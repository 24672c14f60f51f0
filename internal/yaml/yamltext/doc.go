// Package yamltext finds the bytes of YAML nodes, so that a manifest can be
// changed by splicing text instead of encoding it again.
//
// [Parse] splits a stream into documents and parses each with yaml.v3. Nodes of
// yaml.v3 know where they begin but not where they end; [File.Span] and
// [File.EntrySpan] say both. [Apply] splices edits into the source. [Lookup],
// [String], [DuplicateKeys] and [File.Value] read a document the way its other
// readers do: kubectl reads YAML 1.1 through sigs.k8s.io/yaml, yaml.v3 mostly
// YAML 1.2, and where the two disagree the caller gets an error.
//
// Spans are never guessed. They come from a walk over the source that follows
// the parsed nodes and accounts for every byte between them; where text and
// nodes do not agree, an error is returned.
//
// JSON is YAML here: flow collections, tabs and one-line files included. Its escapes
// that YAML readers do not know, surrogate pairs above all, mean what they mean in
// JSON; half a pair is U+FFFD, as for kubectl and the API server.
package yamltext
