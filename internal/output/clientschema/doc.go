// Package clientschema writes the schemas of custom resources for programs other than the API
// server: a JSON Schema for editors and validators, another one for forms, and an OpenAPI document
// for generators of clients.
//
// In all, each union has a branch with the members for each value of the discriminator. It has the
// meaning of pkg/union for new objects. CEL rules, and constraints of unions on changes, are omitted,
// because the formats cannot express them. The rest is the schema of the API server, translated into
// the format:
//
//   - JSONSchema: draft-07. It is closed where the server reports unknown fields, and allows null
//     where the server prunes null or replaces it with a default. If, then and else select the
//     branch, so that errors are about its members; without a discriminator, oneOf does.
//   - FormSchema: the same for forms, with oneOf and the keyword discriminator, and without the null
//     that the server prunes.
//   - OpenAPI: 3.0, as the server publishes it. The object with a union is a separate component.
//     So is each of its branches; the discriminator maps values to them.
package clientschema
