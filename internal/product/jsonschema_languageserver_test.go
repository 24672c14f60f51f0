package product_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestLanguageServer runs yaml-language-server, the server of most editors, with a JSON Schema. The
// server must complete the members for the discriminator's value, and report other members.
func TestLanguageServer(t *testing.T) {
	program, err := exec.LookPath("yaml-language-server")
	if err != nil {
		t.Skip("yaml-language-server is not there: npm install -g yaml-language-server")
	}
	crd, o := version(t, `{type: object, properties: {type: {type: string, enum: [HTTP, TCP]}, http: {type: object, properties: {path: {type: string}}}, tcp: {type: object}}}`,
		`{discriminator: type, fields-to-discriminateBy: {http: HTTP, tcp: TCP}}`)
	data, err := json.Marshal(jsonSchema(t, crd, o))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "thing_v1.json")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, program)
	head := "# yaml-language-server: $schema=file://" + path + "\napiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\nu:\n"

	for text, want := range map[string]string{
		"  type: TCP\n  tcp: {}\n":             "",
		"  type: TCP\n  tcp: {}\n  http: {}\n": "This property is not allowed here.",
		"  type: HTTP\n":                       `Missing property "http".`,
		"  type: HTTP\n  http: {pth: /}\n":     "Property pth is not allowed.",
		"  type: UDP\n":                        `Value is not accepted. Valid values: "HTTP", "TCP", null.`,
	} {
		got := s.diagnostics(t, head+text)
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%s reported %q, want %q", text, got, want)
		}
	}
	if got := s.completions(t, head+"  type: HTTP\n  \n", 6, 2); !slices.Contains(got, "http") || slices.Contains(got, "tcp") {
		t.Errorf("completed %q beside type: HTTP, want http, and not tcp", got)
	}
	if got := s.completions(t, head+"  type: \n", 5, 8); !slices.Contains(got, "HTTP") || !slices.Contains(got, "TCP") {
		t.Errorf("completed %q after type:", got)
	}
}

// languageServer is a client of a running server that uses the Language Server Protocol.
type languageServer struct {
	in      io.Writer
	replies chan map[string]any
	n       int
}

func startServer(t *testing.T, program string) *languageServer {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, "--stdio")
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	s := &languageServer{in: in, replies: make(chan map[string]any, 100)}
	go s.read(bufio.NewReader(out))
	s.send(t, "initialize", map[string]any{"processId": nil, "rootUri": nil, "capabilities": map[string]any{
		"textDocument": map[string]any{"completion": map[string]any{}, "publishDiagnostics": map[string]any{}}}})
	s.await(t, func(m map[string]any) bool { return m["id"] == 1.0 })
	s.send(t, "initialized", map[string]any{})
	return s
}

func (s *languageServer) read(r *bufio.Reader) {
	defer close(s.replies)
	for {
		header, err := textproto.NewReader(r).ReadMIMEHeader()
		if err != nil {
			return
		}
		n, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil {
			return
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		m := map[string]any{}
		if err := json.Unmarshal(body, &m); err != nil {
			return
		}
		s.replies <- m
	}
}

// send sends a message. initialize and completion are requests, which have an id.
func (s *languageServer) send(t *testing.T, method string, params any) {
	t.Helper()
	m := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if method == "initialize" || method == "textDocument/completion" {
		s.n++
		m["id"] = s.n
	}
	s.write(t, m)
}

func (s *languageServer) write(t *testing.T, m map[string]any) {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(s.in, "Content-Length: %d\r\n\r\n%s", len(data), data); err != nil {
		t.Fatal(err)
	}
}

// await returns the next wanted message. It answers requests of the server, such as a request for
// its configuration, with null.
func (s *languageServer) await(t *testing.T, wanted func(map[string]any) bool) map[string]any {
	t.Helper()
	for m := range s.replies {
		if _, asks := m["method"]; asks && m["id"] != nil {
			s.write(t, map[string]any{"jsonrpc": "2.0", "id": m["id"], "result": nil})
			continue
		}
		if wanted(m) {
			return m
		}
	}
	t.Fatal("the language server has ended")
	return nil
}

// open opens a new file with a text.
func (s *languageServer) open(t *testing.T, text string) (uri string) {
	t.Helper()
	uri = "file:///" + strings.Trim(filepath.Base(t.TempDir()), "/") + strconv.Itoa(len(text)) + ".yaml"
	s.send(t, "textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "yaml", "version": 1, "text": text}})
	return uri
}

func (s *languageServer) diagnostics(t *testing.T, text string) []string {
	t.Helper()
	uri := s.open(t, text)
	m := s.await(t, func(m map[string]any) bool {
		p, _ := m["params"].(map[string]any)
		return m["method"] == "textDocument/publishDiagnostics" && p["uri"] == uri
	})
	var l []string
	for _, d := range m["params"].(map[string]any)["diagnostics"].([]any) {
		l = append(l, d.(map[string]any)["message"].(string))
	}
	return l
}

func (s *languageServer) completions(t *testing.T, text string, line, character int) []string {
	t.Helper()
	uri := s.open(t, text)
	s.send(t, "textDocument/completion", map[string]any{"textDocument": map[string]any{"uri": uri}, "position": map[string]any{"line": line, "character": character}})
	id := float64(s.n)
	m := s.await(t, func(m map[string]any) bool { return m["id"] == id })
	var l []string
	items := m["result"].(map[string]any)["items"].([]any)
	for _, i := range items {
		l = append(l, i.(map[string]any)["label"].(string))
	}
	return l
}
