// Package clientschema writes the schemas of custom resources for programs other than the API
// server: a JSON Schema for editors and validators, and an OpenAPI document for generators of
// clients and forms.
//
// In both, a oneOf for each union lists the members for each value of the discriminator, as
// pkg/union defines them for an object that is created. CEL rules, and constraints of unions on
// changes, are left out, since the formats cannot express them. The rest is the schema of the API
// server, in the terms of the format:
//
//   - JSONSchema: draft-07, closed where the server reports unknown fields, with null where
//     the server prunes it or replaces it by a default.
//   - OpenAPI: 3.0, as the server publishes it. The object with a union is a component of its
//     own, and so is each of its branches, which the discriminator maps values to.
package clientschema
