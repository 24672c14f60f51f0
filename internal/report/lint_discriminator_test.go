package report_test

import (
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/report"
)

// TestUnusedDiscriminator reports properties with a value for each member.
func TestUnusedDiscriminator(t *testing.T) {
	for _, test := range []struct{ name, property, unions, want string }{
		{"a value for each", "mode: {type: string, enum: [ConfigMap, Host-Path, None]}", "- members: [configMap, hostPath]",
			`UC531 warning: "mode" has a value for each of "configMap" and "hostPath", and no rule relates it to them`},
		{"none for one", "mode: {type: string, enum: [ConfigMap, None]}", "- members: [configMap, hostPath]", ""},
		{"no enum", "mode: {type: string}", "- members: [configMap, hostPath]", ""},
		{"declared", "mode: {type: string, enum: [ConfigMap, HostPath]}", "- {discriminator: mode, fields-to-discriminateBy: {configMap: ConfigMap, hostPath: HostPath}}", ""},
		{"of another union", "mode: {type: string, enum: [a, ConfigMap, HostPath]}",
			"- members: [configMap, hostPath]\n- {discriminator: mode, fields-to-discriminateBy: {a: a}}", ""},
	} {
		spec := "type: object\nproperties:\n  " + test.property + "\n  configMap: {type: object}\n  hostPath: {type: object}\n  a: {type: object}\nx-kubernetes-unions:\n" + test.unions + "\n"
		l := report.Lint(crdpatch.Open("crd.yaml", []byte(crdOf("mounts", version{Name: "v1", Spec: spec}))), crdpatch.Options{})
		if got := strings.Join(codesOf(l, codes.UnusedDiscriminator), "\n"); got != test.want || l.HasErrors() {
			t.Errorf("%s: %q, want %q; %v", test.name, got, test.want, l)
		}
	}
}
