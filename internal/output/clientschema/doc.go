// Package clientschema writes the schemas of custom resources for programs beside the API
// server: a JSON Schema for editors and checkers, an OpenAPI document for generators of
// clients and forms.
//
// Both say of each union, in a oneOf, which members go with which value of the
// discriminator: what pkg/union says of an object that is created. What they cannot
// express is left out: CEL rules, and what unions say of changes. Everything else of the
// schema is as the API server has it, in the words of the format:
//
//   - JSONSchema: draft-07, closed where the server reports unknown fields, with null where
//     the server prunes it or puts a default in its place.
//   - OpenAPI: 3.0, as the server publishes it; the object with a union is a component of
//     its own, and so is each of its branches, which the discriminator maps values to.
package clientschema
