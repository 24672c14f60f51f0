//go:build !unix

package cli

// becomeNobody does nothing where there is no root.
func becomeNobody() error { return nil }
