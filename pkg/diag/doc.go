// Package diag defines the diagnostics about a user's input: values with a stable code, a position,
// a schema path, a message and a hint. It also prints them.
//
// A stage of the compiler appends [Diagnostic] values to a [List] and prints nothing. At the end
// the caller sorts the list with [List.Sort], checks [List.HasErrors], and passes it to [Text] or
// [JSON].
//
// A diagnostic is about the input. Other failures, such as a file that cannot be read, are ordinary
// errors.
//
// Codes are never reused and never change their meaning; [Codes] lists them. The package needs only
// the standard library.
package diag
