// Package english is imported by kubectl for its effect: it looks for no translations, which
// takes half of its start. As k8s.io/kubectl/pkg/util/i18n demands, this is initialised before
// kubectl's commands are, by its import path.
package english

import "k8s.io/kubectl/pkg/util/i18n"

func init() {
	if err := i18n.SetLoadTranslationsFunc(func() error { return nil }); err != nil {
		panic(err)
	}
}
