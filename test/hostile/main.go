// Hostile measures the CPU time and the memory that hostile manifests require, for the table in
// docs/contributing/performance.md:
//
//	go build -o /tmp/before ./cmd/unioncel   # of an older commit
//	go build -o /tmp/after ./cmd/unioncel
//	go run ./test/hostile /tmp/before /tmp/after
//
// Arguments after -only select the rows that contain one of them. With -print, as in
// go run ./test/hostile -print discriminated=1000, a manifest is printed instead.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// row is a line of the table: a command, and the manifest that it reads.
type row struct {
	manifest string // name=size, as in -print
	before   string // a command whose result is the input of the other one, or ""
	command  string
}

var rows = append(every("discriminated=500"), append(every("undiscriminated=500"), []row{
	{"discriminated=1000", "", "compile"},
	{"discriminated=1000", "", "explain"},
	{"discriminated=1000", "", "lint"},
	{"deduced=500", "", "lint"},
	{"ratchet=500", "", "lint"},
	{"full-member-table=100", "", "lint"},
	{"discriminated=4000", "", "compile"},
	{"below-a-list=1000", "", "compile"},
	{"deduced=1000", "", "compile"},
	{"ratchet=1000", "", "compile"},
	{"table=1000", "", "compile"},
	{"full-table=250", "", "compile"},
	{"full-table=1000", "", "compile"},
	{"member-table=300", "", "compile"},
	{"member-table=1000", "", "compile"},
	{"full-member-table=300", "", "compile"},
	{"full-member-table=300", "compile", "verify"},
	{"unions=1000", "", "compile"},
	{"unions=1000", "compile", "verify"},
	{"unions=1000", "", "explain"},
	{"unions=1000", "", "lint"},
	{"unions=5000", "", "lint"},
	{"unions-at-once=1000", "", "lint"},
	{"versions=1000", "", "compile"},
	{"versions=1000", "", "lint"},
	{"versions=5000", "", "compile"},
	{"unknown-members=20000", "", "compile"},
	{"forged-rules=1000", "", "compile"},
	{"forged-rules=1000", "", "lint"},
	{"list-of-crds=1000", "", "compile"},
	{"documents-of-crd=1000", "", "compile"},
	{"documents-of-crd=1000", "compile", "compile"},
	{"documents=10000", "", "compile"},
	{"documents=1000000", "", "compile"},
	{"flow=10000000", "", "compile"},
	{"flow=100000000", "", "compile"},
	{"long-line=100000000", "", "compile"},
	{"deep-flow=9000", "", "compile"},
	{"deep-flow=100000", "", "compile"},
	{"deep-block=9000", "", "compile"},
	{"deep-schema=500", "", "compile"},
	{"deep-schema=4000", "", "compile"},
	{"aliases=9", "", "compile"},
	{"merge-keys=18", "", "compile"},
	{"duplicate-keys=30000", "", "compile"},
	{"patch=5000", "", "patch --builtin --explicit"},
}...)...)

func init() {
	for _, m := range []string{
		"one-union=500", "ten-unions=300", "ten-objects=300", "small-unions=500", "classes=5000", "states=900", "alternatives=150",
		"enum=60000", "misspelt=4000", "misspelt5=15000", "backticks=400000", "ticked-value=400000",
	} {
		rows = append(rows, commands(m)...)
	}
}

// commands returns rows for all commands, with a manifest that is one of the kinds.
func commands(manifest string) []row {
	kind, size, _ := strings.Cut(manifest, "=")
	changed, object, desired := "@"+kind+"-new="+size, "@"+kind+"-object="+size, "@"+kind+"-desired="+size
	return append(every(manifest), []row{
		{manifest, "", "explain --format markdown"},
		{manifest, "", "diff FILE " + changed},
		{manifest, "", "diff --format markdown " + changed},
		{manifest, "", "diff --objects " + object + " FILE " + changed},
		{manifest, "", "rollout --objects " + object + " FILE " + changed},
		{manifest, "", "validate " + desired + " --old " + object + " --crd"},
		{manifest, "", "normalize " + desired + " --old " + object + " --crd"},
		{manifest, "", "patch --live " + object + " " + desired + " --crd"},
		{manifest, "", "patch --explicit " + desired + " --crd"},
		{manifest, "", "policy --crd"},
		{manifest, "", "policy --validate --crd"},
		{manifest, "", "schema"},
		{manifest, "", "testdata -o DIR"},
	}...)
}

// every returns rows for the commands that read one manifest.
func every(manifest string) []row {
	return []row{
		{manifest, "", "compile"},
		{manifest, "compile", "compile"},
		{manifest, "compile", "compile --check"},
		{manifest, "compile", "decompile"},
		{manifest, "", "lint"},
		{manifest, "", "explain"},
		{manifest, "compile", "verify"},
		{manifest, "compile --no-annotation", "infer"},
	}
}

func main() {
	only := flag.String("only", "", "measure the rows with this text")
	show := flag.String("print", "", "print this manifest, as name=size")
	limit := flag.Duration("timeout", time.Minute, "give up after so long, of a processor's time")
	memory := flag.Int("memory", 6, "GB that a command may have")
	flag.Parse()
	if *show != "" {
		manifest, err := generate(*show)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := os.Stdout.Write(manifest); err != nil {
			log.Fatal(err)
		}
		return
	}
	dir, err := os.MkdirTemp("", "hostile")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, r := range rows {
		name := fmt.Sprintf("%s | %s", r.manifest, r.command)
		if r.before != "" {
			name = fmt.Sprintf("%s, after %s | %s", r.manifest, r.before, r.command)
		}
		if !strings.Contains(name, *only) {
			continue
		}
		fmt.Fprintf(os.Stdout, "| %s |", name)
		for _, program := range flag.Args() {
			m := measurement{program, dir, *limit, *memory}
			fmt.Fprintf(os.Stdout, " %s |", m.row(r))
		}
		fmt.Fprintln(os.Stdout)
	}
}

func generate(manifest string) ([]byte, error) {
	name, size, _ := strings.Cut(manifest, "=")
	n, err := strconv.Atoi(size)
	if err != nil {
		return nil, fmt.Errorf("%s: no such manifest", manifest)
	}
	var b bytes.Buffer
	if g := generators[name]; g != nil {
		g(&b, n)
		return b.Bytes(), nil
	}
	for kind, k := range kinds {
		switch suffix, ok := strings.CutPrefix(name, kind); {
		case !ok:
		case suffix == "" || suffix == "-new":
			b.WriteString(head)
			version(&b, "v1", true, func() { k.schema(&b, n, suffix != "") })
			return b.Bytes(), nil
		case suffix == "-object" || suffix == "-desired":
			b.WriteString("apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a, namespace: b}\nspec:\n")
			k.object(&b, n, suffix == "-desired")
			return b.Bytes(), nil
		}
	}
	return nil, fmt.Errorf("%s: no such manifest", manifest)
}

// measurement runs a program.
type measurement struct {
	program, dir string
	limit        time.Duration
	memory       int
}

// row returns the text of a cell for a row.
func (m measurement) row(r row) string {
	in := m.file(r.manifest)
	if r.before != "" {
		out := filepath.Join(m.dir, "out.yaml")
		if text, ok := m.run(r.before+" -q -o "+out, in); !ok {
			return "(" + text + ")"
		}
		in = out
	}
	text, _ := m.run(r.command, in)
	return text
}

// file returns the path of the file for a manifest. It generates the file if it does not exist.
func (m measurement) file(manifest string) string {
	name := filepath.Join(m.dir, manifest+".yaml")
	if _, err := os.Stat(name); err == nil {
		return name
	}
	// In another process, because the peak memory of this process counts for its children.
	file, err := os.Create(name)
	if err == nil {
		generator := exec.Command(os.Args[0], "-print", manifest)
		generator.Stdout, generator.Stderr = file, os.Stderr
		err = errors.Join(generator.Run(), file.Close())
	}
	if err != nil {
		log.Fatal(err)
	}
	return name
}

// run returns the CPU time and the peak memory of a command, and the code of its error, if any.
func (m measurement) run(command, file string) (text string, ok bool) {
	words := strings.Fields(command)
	if !slices.Contains(words, "FILE") {
		words = append(words, "FILE")
	}
	for i, w := range words {
		switch manifest, ok := strings.CutPrefix(w, "@"); {
		case ok:
			words[i] = m.file(manifest)
		case w == "FILE":
			words[i] = file
		case w == "DIR":
			words[i] = filepath.Join(m.dir, "out")
		}
	}
	shell := fmt.Sprintf("ulimit -v %d -t %d; exec %s %s", m.memory<<20, int(m.limit.Seconds()), m.program, strings.Join(words, " "))
	cmd := exec.Command("bash", "-c", shell)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	state := cmd.ProcessState
	if state == nil {
		log.Fatal(err)
	}
	text = fmt.Sprintf("%.1f s, %s", (state.UserTime() + state.SystemTime()).Seconds(), peak(state))
	switch code := state.ExitCode(); {
	case code == -1: // killed
		return "> " + m.limit.String() + ", " + peak(state), false
	case bytes.Contains(stderr.Bytes(), []byte("out of memory")):
		return "out of memory", false
	case code == 0:
		return text, true
	}
	for _, line := range strings.Split(stderr.String(), "\n") {
		if _, rest, found := strings.Cut(line, ": UC"); found && !strings.Contains(rest, ": warning: ") && !strings.Contains(rest, ": info: ") {
			return text + ", UC" + rest[:3], false
		}
	}
	return text + ", exit 1", false
}

// sumOf returns the checksum of a rule in the annotation.
func sumOf(rule string) string {
	data, err := json.Marshal(map[string]any{"rule": rule})
	if err != nil {
		log.Fatal(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:4])
}
