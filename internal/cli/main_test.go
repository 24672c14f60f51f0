package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/diag"
)

// none is the tally of compile for files without CRDs.
const none = "unioncel: 0 CRDs, 0 unions; no input has a CustomResourceDefinition\n"

// testApp returns a program that converts files to upper case, and its output streams.
func testApp(in io.Reader) (a *app, out, errs *bytes.Buffer) {
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	a = newApp(Streams{In: in, Out: out, Err: errs})
	a.compile = func(f *crdpatch.File, _ crdpatch.Options) ([]byte, diag.List) { return bytes.ToUpper(f.Bytes()), nil }
	return a, out, errs
}

func TestInterruptedWhileReading(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	in, writer := io.Pipe()
	defer writer.Close()
	a, out, errs := testApp(in)
	go func() {
		// The write completes once the program reads.
		_, _ = writer.Write([]byte("a: 1\n"))
		cancel()
	}()
	if code := a.main(ctx, func() {}, []string{"compile"}); code != exitFailure {
		t.Errorf("exit code %d", code)
	}
	if out.Len() > 0 || errs.String() != "unioncel: interrupted\n" {
		t.Errorf("printed %q and %q", out, errs)
	}
}

func TestInterruptedWhileConverting(t *testing.T) {
	dir, outs := abc(t)
	ctx, cancel := context.WithCancel(context.Background())
	a, out, errs := testApp(nil)
	released := make(chan struct{})
	a.compile = func(f *crdpatch.File, _ crdpatch.Options) ([]byte, diag.List) {
		cancel()
		<-released
		return bytes.ToUpper(f.Bytes()), nil
	}

	args := []string{"compile", "-w", outs[0].path, outs[1].path, outs[2].path}
	code := a.main(ctx, func() { close(released) }, args)
	if code != exitFailure || out.Len() > 0 || errs.String() != "unioncel: interrupted\n" {
		t.Errorf("exit code %d, printed %q and %q", code, out, errs)
	}
	wantTree(t, dir, map[string]string{"a": "old a", "b": "old b", "c": "old c"})
}

func TestInterruptedWhileReplacing(t *testing.T) {
	dir, outs := abc(t)
	ctx, cancel := context.WithCancel(context.Background())
	a, out, errs := testApp(nil)
	released := make(chan struct{})
	a.batch.rename = func(from, to string) error {
		cancel()
		<-released
		return os.Rename(from, to)
	}
	args := []string{"compile", "-w", outs[0].path, outs[1].path, outs[2].path}
	code := a.main(ctx, func() { close(released) }, args)
	if code != exitClean || out.Len() > 0 || errs.String() != none {
		t.Errorf("exit code %d, printed %q and %q", code, out, errs)
	}
	wantTree(t, dir, map[string]string{"a": "OLD A", "b": "OLD B", "c": "OLD C"})
}

// Results keep the order of their inputs, regardless of the duration of each.
func TestManyInputs(t *testing.T) {
	dir := t.TempDir()
	var args []string
	var want []byte
	for i := range 100 {
		data := []byte{'a' + byte(i%26), ':', '\n'}
		path := filepath.Join(dir, string(rune('a'+i/26))+string(data[:1])+".yaml")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
		if i > 0 {
			want = append(want, "---\n"...)
		}
		want = append(want, bytes.ToUpper(data)...)
	}
	a, out, errs := testApp(nil)
	code := a.main(context.Background(), func() {}, slices.Insert(slices.Clone(args), 0, "compile"))
	if code != exitClean || errs.String() != none || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("exit code %d, printed %q and %q", code, out, errs)
	}
}

// Only the files in work are in memory, regardless of the number of files, unless results are printed.
func TestMemoryIsBounded(t *testing.T) {
	if !unioncases.Exhaustive {
		t.Skip("it collects garbage for seconds")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	dir := t.TempDir()
	data := bytes.Repeat([]byte("a: 1 # comment\n"), 1<<15)
	const files = 64
	for i := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.yaml", i)), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"--check"}, {"-o", filepath.Join(t.TempDir(), "out")}, {"-w"}} {
		a, _, _ := testApp(nil)
		a.streams.Out = io.Discard
		var most, called atomic.Uint64
		a.compile = func(f *crdpatch.File, _ crdpatch.Options) ([]byte, diag.List) {
			if called.Add(1)%4 == 0 { // retained memory accumulates
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				most.Store(max(most.Load(), m.HeapAlloc))
			}
			return bytes.ToUpper(f.Bytes()), nil
		}
		var before runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		if code := a.main(context.Background(), func() {}, append([]string{"compile", dir}, args...)); code != exitClean && !slices.Contains(args, "--check") {
			t.Errorf("%v: exit code %d", args, code)
		}
		grown, all := int(most.Load())-int(before.HeapAlloc), files*len(data)
		if grown > all/2 {
			t.Errorf("%v: %d bytes in memory for %d in files", args, grown, all)
		}
	}
}

// Diagnostics of one file may be unsorted, and refer to other files.
func TestDiagnosticsAreSorted(t *testing.T) {
	_, outs := abc(t)
	a, out, errs := testApp(nil)
	a.compile = func(f *crdpatch.File, _ crdpatch.Options) ([]byte, diag.List) {
		return bytes.ToUpper(f.Bytes()), diag.List{
			{Code: codes.NoEffect, Severity: diag.Warning, Pos: diag.Pos{File: f.Name(), Line: 1, Col: 5}, Message: "second"},
			{Code: codes.NoEffect, Severity: diag.Warning, Pos: diag.Pos{File: f.Name(), Line: 1, Col: 1}, Message: "first"},
		}
	}
	code := a.main(context.Background(), func() {}, []string{"compile", "-w", outs[1].path, outs[0].path})
	want := outs[0].path + ":1:1: warning: UC509: first\n | old a\n | ^\n" +
		outs[0].path + ":1:5: warning: UC509: second\n | old a\n | ....^\n" +
		outs[1].path + ":1:1: warning: UC509: first\n | old b\n | ^\n" +
		outs[1].path + ":1:5: warning: UC509: second\n | old b\n | ....^\n" + none
	if code != exitClean || out.Len() > 0 || errs.String() != want {
		t.Errorf("exit code %d, printed %q and\n%s\nwant\n%s", code, out, errs, want)
	}
}

// A bug that one file triggers becomes an error about that file: the results of the other files are
// printed, and nothing is written in place.
func TestPanicIsOfItsFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.yaml": "a: 1\n", "b.yaml": "panic: 1\n", "c.yaml": "c: 1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := filepath.Join(dir, "b.yaml") + ": error: UC405: internal error: strings: negative Repeat count\n"
	crash := func(f *crdpatch.File) {
		_ = strings.Repeat(" ", bytes.IndexByte(f.Bytes(), 'p')-bytes.IndexByte(f.Bytes(), 'n'))
	}
	a, _, errs := testApp(nil)
	var shown []string
	if _, err := collect(t.Context(), a, &compilerFlags{}, []string{dir}, func(f *crdpatch.File, _ input) ([]string, diag.List, error) {
		if bytes.HasPrefix(f.Bytes(), []byte("panic")) {
			crash(f)
		}
		return []string{filepath.Base(f.Name())}, nil, nil
	}, func(names []string) error {
		shown = names
		return nil
	}); !errors.Is(err, errFindings) || !strings.Contains(errs.String(), want) || !slices.Equal(shown, []string{"a.yaml", "c.yaml"}) {
		t.Errorf("%v, printed %s, shown %q", err, errs, shown)
	}
	a, _, errs = testApp(nil)
	a.compile = func(f *crdpatch.File, _ crdpatch.Options) ([]byte, diag.List) {
		if bytes.HasPrefix(f.Bytes(), []byte("panic")) {
			crash(f)
		}
		return bytes.ToUpper(f.Bytes()), nil
	}
	code := a.main(context.Background(), func() {}, []string{"compile", "-w", dir})
	if got, _ := os.ReadFile(filepath.Join(dir, "a.yaml")); code != exitFindings || !strings.Contains(errs.String(), want) || string(got) != "a: 1\n" {
		t.Errorf("exit code %d, printed %s, wrote %q", code, errs, got)
	}
}

// TestTimeout tests that --timeout ends a command, here one that waits for its input.
func TestTimeout(t *testing.T) {
	never, w := io.Pipe()
	defer w.Close()
	a, out, errs := testApp(never)
	code := a.main(context.Background(), func() {}, []string{"verify", "--timeout", "1ms"})
	if code != exitFailure || out.Len() > 0 || errs.String() != "unioncel: stopped by --timeout 1ms\n" {
		t.Errorf("exit code %d, printed %q and %q", code, out, errs)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestStandardInputFails(t *testing.T) {
	a, out, errs := testApp(brokenReader{})
	code := a.main(context.Background(), func() {}, []string{"compile", "-", "nowhere"})
	if code != exitFailure || out.Len() > 0 || errs.String() != "unioncel: nowhere: no such file or directory\n" {
		t.Errorf("exit code %d, printed %q and %q", code, out, errs)
	}
	a, out, errs = testApp(brokenReader{})
	code = a.main(context.Background(), func() {}, []string{"compile", "-"})
	if code != exitFailure || out.Len() > 0 || errs.String() != "unioncel: <stdin>: unexpected EOF\n" {
		t.Errorf("exit code %d, printed %q and %q", code, out, errs)
	}
}

func TestProcessNoLonger(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	dir, _ := abc(t)
	inputs := make([]input, 1000)
	for i := range inputs {
		inputs[i] = input{name: "a", path: filepath.Join(dir, "a")}
	}
	a, _, _ := testApp(nil)
	_, err := process(ctx, a, inputs[:1], func(*result, []byte) (bool, error) {
		cancel()
		return false, nil
	})
	if !errors.Is(err, errInterrupted) {
		t.Errorf("interrupted during the last: %v", err)
	}
	calls := 0
	_, err = process(ctx, a, inputs, func(*result, []byte) (bool, error) {
		calls++
		return false, nil
	})
	if !errors.Is(err, errInterrupted) || calls > 0 {
		t.Errorf("interrupted before: %v after %d calls", err, calls)
	}
}

func TestInvocation(t *testing.T) {
	for _, tt := range []struct {
		args []string
		name string
		rest []string
	}{
		{nil, "unioncel", nil},
		{[]string{"/usr/bin/unioncel", "compile", "-"}, "unioncel", []string{"compile", "-"}},
		{[]string{"bin/whatever", "fn"}, "unioncel", []string{"fn"}},
		{[]string{"/usr/local/bin/unioncel-fn"}, "unioncel", []string{"fn"}},
		{[]string{"unioncel-fn.exe", "--help"}, "unioncel", []string{"fn", "--help"}},
		{[]string{"UNIONCEL-FN.EXE"}, "unioncel", []string{"fn"}},
		{[]string{"/home/unioncel-fn/unioncel", "version"}, "unioncel", []string{"version"}},
		{[]string{"/krew/bin/kubectl-unioncel", "version"}, "kubectl unioncel", []string{"version"}},
	} {
		name, rest := invocation(tt.args)
		if name != tt.name || !slices.Equal(rest, tt.rest) {
			t.Errorf("%q is %q %q, want %q %q", tt.args, name, rest, tt.name, tt.rest)
		}
	}
}
