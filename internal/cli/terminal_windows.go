package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// understandsEscapes enables escape sequences on a Windows console, and reports whether that
// succeeded. Old consoles do not support them.
func understandsEscapes(terminal *os.File) bool {
	handle := windows.Handle(terminal.Fd())
	var mode uint32
	if windows.GetConsoleMode(handle, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
