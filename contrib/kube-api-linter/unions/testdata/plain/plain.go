// Package plain has no markers.
package plain

type T struct{ A *string }
