// Package patch makes patches that clear what unions exclude: the one that leads from an
// object to another, and, from those that people write as overlays, ones that clear the
// siblings of a member by themselves. They are computed by the libraries of kubectl and the
// API server.
package patch
