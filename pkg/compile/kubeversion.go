package compile

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/rules"
)

// versionText matches a version of Kubernetes, with the suffix of a distribution.
var versionText = english.Pattern(`^v?[0-9]+(\.[0-9]+)+([-+][0-9A-Za-z.+-]+)?$`)

// oldest is the first Kubernetes version that enables validation rules by default.
var oldest = version.MajorMinor(1, 25)

// Linked returns the Kubernetes version of the libraries that validate and cost the rules.
func Linked() string {
	return server.LinkedVersion().String()
}

// ParseKubeVersion returns s in the form of Options.KubeVersion: "1.30" for "v1.30.2", or "" for
// "". It returns an error unless s is a Kubernetes version from 1.25 to Linked(): the libraries do
// not cover later versions.
func ParseKubeVersion(s string) (string, error) {
	v, err := parseKubeVersion(s)
	if err != nil || s == "" {
		return "", err
	}
	return v.String(), nil
}

// kubeVersion is a Kubernetes version and the features of its API server.
type kubeVersion struct {
	*version.Version
	features rules.Features
	// env is the CEL environment of that server for new rules; nil for the linked version,
	// whose environment validation uses anyway.
	env *environment.EnvSet
}

func parseKubeVersion(s string) (kubeVersion, error) {
	linked := server.LinkedVersion()
	v := linked
	if s != "" {
		var err error
		if v, err = version.ParseGeneric(s); err != nil || !versionText().MatchString(s) || v.LessThan(oldest) {
			return kubeVersion{}, fmt.Errorf("%q is not a version of Kubernetes since %s: write it like 1.30", s, oldest)
		}
		if v = version.MajorMinor(v.Major(), v.Minor()); linked.LessThan(v) {
			return kubeVersion{}, fmt.Errorf("%q is later than %s, the latest version of Kubernetes that this unioncel knows", s, linked)
		}
	}
	k := kubeVersion{Version: v, features: rules.Features{
		MessageExpression:  v.AtLeast(version.MajorMinor(1, 27)),
		ReasonAndFieldPath: v.AtLeast(version.MajorMinor(1, 28)),
		OptionalOldSelf:    v.AtLeast(version.MajorMinor(1, 30)),
	}}
	if v.LessThan(linked) {
		k.env = server.Environment(v)
	}
	return k, nil
}
