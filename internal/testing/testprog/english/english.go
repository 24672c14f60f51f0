// Package english is imported by kubectl for its side effect: kubectl loads no translations, which
// take half of its start time. Because of its import path, this package is initialised before
// kubectl's commands, as k8s.io/kubectl/pkg/util/i18n requires.
package english

import "k8s.io/kubectl/pkg/util/i18n"

func init() {
	if err := i18n.SetLoadTranslationsFunc(func() error { return nil }); err != nil {
		panic(err)
	}
}
