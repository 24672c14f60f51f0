//go:build !linux && !darwin

package cli

import "os"

// copyAttributes does nothing where files have no such attributes.
func copyAttributes(*os.File, string) {}
