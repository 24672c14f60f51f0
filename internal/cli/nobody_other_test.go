//go:build !unix

package cli

// becomeNobody does nothing on platforms without root.
func becomeNobody() error { return nil }
