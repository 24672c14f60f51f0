package diag

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// GitHub writes the list, in its order, as workflow commands, which GitHub Actions turns into
// annotations of the lines:
//
//	::error file=crd.yaml,line=41,col=5,title=UC203 unknown member::member "tsl" is ...
//
// Info becomes a notice. path maps the name of a file to its path in the repository; nil leaves
// names unchanged. Hints and related positions follow the message, each on a line of its own.
func GitHub(w io.Writer, l List, path func(file string) string) error {
	buf := bufio.NewWriter(w)
	for _, d := range l {
		var properties []string
		property := func(name, value string) {
			properties = append(properties, name+"="+spelled(commandProperty.Replace(strings.ToValidUTF8(value, "\ufffd"))))
		}
		if d.Pos.File != "" {
			property("file", commandPath(d.Pos.File, path))
		}
		if d.Pos.Line > 0 {
			property("line", strconv.Itoa(d.Pos.Line))
		}
		if d.Pos.Line > 0 && d.Pos.Col > 0 {
			property("col", strconv.Itoa(d.Pos.Col))
		}
		title := string(d.Code)
		if info, ok := Lookup(d.Code); ok {
			title += " " + info.Title
		}
		property("title", title)
		message := inline(d.Message)
		if d.Hint != "" {
			message += "\nhint: " + indented(d.Hint, "")
		}
		for _, r := range d.Related {
			place := r.Pos
			place.File = commandPath(place.File, path)
			message += fmt.Sprintf("\nsee %s: %s", inline(place.String()), inline(r.Message))
		}
		fmt.Fprintf(buf, "::%s %s::%s\n", commands[d.Severity], strings.Join(properties, ","), commandData.Replace(message))
	}
	return buf.Flush()
}

var commands = map[Severity]string{Error: "error", Warning: "warning", Info: "notice"}

// Escapes that the runner decodes (actions/toolkit, packages/core/src/command.ts).
var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func commandPath(file string, path func(string) string) string {
	if file == "" || path == nil {
		return file
	}
	return path(file)
}
