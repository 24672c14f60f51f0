// Package clientschema writes the schemas of custom resources for programs other than the API
// server, such as editors and validators: as JSON Schema, draft-07.
//
// Each union has a branch with the members for each value of the discriminator. It has the meaning of
// pkg/union for new objects. CEL rules, and constraints of unions on changes, are omitted, because
// JSON Schema cannot express them. The rest is the schema of the API server in JSON Schema. It is
// closed where the server reports unknown fields, and allows null where the server prunes null or
// replaces it with a default. If, then and else select the branch, so that errors are about its
// members; without a discriminator, oneOf does.
package clientschema
