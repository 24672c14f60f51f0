// Package yamltext reads and edits YAML and JSON as text: manifests, and the files that configure
// unioncel.
//
// # Positions
//
// [Parse] splits a stream into documents and parses each of them with yaml.v3. yaml.v3 records the
// start of a node but not its end; [File.Span] and [File.EntrySpan] return both. [Lookup], [String],
// [DuplicateKeys] and [JSON] read a document as other programs do: kubectl reads YAML 1.1 through
// sigs.k8s.io/yaml, and yaml.v3 mostly reads YAML 1.2. If the two disagree, the caller gets an error.
//
// Spans are never guessed. A walk over the source follows the parsed nodes and accounts for every
// byte between them. If the text does not match the nodes, Span returns an error.
//
// JSON is accepted as YAML, including flow collections, tabs and one-line files. Escapes that only
// JSON has, such as surrogate pairs, are read as in JSON. Half of a pair is U+FFFD, as in kubectl
// and the API server.
//
// # Edits
//
// [Apply] applies edits to a source, so that manifests need not be encoded again. The methods of
// [EditedText] remove entries from collections and add entries in the style of the surrounding text.
// Every other byte stays.
//
// # Files
//
// [ParseManifest] reads a file as kubectl does and reports problems as diagnostics. [ParseObjects]
// reads the Kubernetes objects in it, as documents or as items of lists; [StreamObjects] does not
// hold all of them. Each object has the value that kubectl reads, and its position in the text.
// [Limits] bound the work that an untrusted file may cause, in numbers instead of time, so that results
// are the same on any machine. [EachInOrder] works on several files at once.
//
// A [Carrier] is a kind of objects that contain schemas of custom resources:
// CustomResourceDefinitions, and kinds that other controllers turn into CustomResourceDefinitions.
// All of them have their schemas at spec.versions[*].schema.openAPIV3Schema, so the path of a schema
// is the same in the CustomResourceDefinition, and its content reaches the API server unless
// [Carrier.Lost] returns a reason. To support another kind, add it to kinds.
//
// # Configuration
//
// A [ConfigReader] reads the YAML that users write to configure unioncel: declarations of unions,
// UnionSets, the project configuration, and the configuration of the KRM function. It reports every
// problem at its position, with a correction. The methods of [ConfigValue] return the valid parts:
// Fields reads mappings with known keys, Entries mappings with any keys, and Items, Word, Text, Bool
// and OneOf other values.
//
// # Work
//
// [Parses], [Readings], [Decodes] and [Compilations] count the steps that take most of the time of a
// command. Tests hold each command to its numbers.
package yamltext
