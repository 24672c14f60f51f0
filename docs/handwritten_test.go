package docs_test

import (
	"slices"
	"strings"
	"testing"
)

// TestHandWritten runs the commands of handwritten.md on its CRD, and compares the outputs with the
// blocks that follow. The last command fails because of the findings.
func TestHandWritten(t *testing.T) {
	d := open(t, "handwritten.md")
	blocks := slices.DeleteFunc(d.blocks(t, 0, len(d.lines)), func(b block) bool { return b.info == "go" })
	files := map[string]string{"crd.yaml": blocks[0].text}
	ran := map[string]bool{}
	for i, b := range blocks {
		if b.info != "sh" {
			continue
		}
		verb := strings.Join(strings.Fields(b.text)[:2], " ")
		switch {
		case i+1 < len(blocks) && blocks[i+1].info == "text":
			out, errs, code := shellAmong(t, b.text, files)
			if code != 0 || errs != "" {
				t.Errorf("%s: exit code %d\n%s%s", b.text, code, out, errs)
			}
			d.generated(t, blocks[i+1].from, blocks[i+1].to, out)
			ran[verb] = true
		case strings.Contains(b.text, "config/crd") && verb == "unioncel audit":
			if out, errs, code := shellAmong(t, strings.Replace(b.text, "config/crd", ".", 1), files); code != 1 || errs != "" {
				t.Errorf("exit code %d\n%s%s", code, out, errs)
			}
			ran["fails"] = true
		}
	}
	if !ran["unioncel infer"] || !ran["unioncel audit"] || !ran["fails"] {
		t.Errorf("handwritten.md shows only the commands %v", ran)
	}
	d.save(t)
}
