package crdpatch

import (
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/union"
)

// Options are the options for compiling the unions of a file; the zero value is the default.
type Options struct {
	// KubeVersion, Encoding and Origins are as in compile.Options.
	KubeVersion string
	Encoding    compile.Encoding
	Origins     compile.Origins
	// NoAnnotation omits the annotation. The output then cannot be decompiled,
	// and compiling it again leaves it unchanged.
	NoAnnotation bool
	// External are declarations outside the CRDs. The annotation records them, so
	// that the output can be compiled again without them.
	External union.Externals
	// Forget keeps rules that the annotation claims and that are not ours, and the rules of
	// recorded unions that are declared nowhere any more. They become hand-written rules and
	// are no longer claimed. Without Forget they are errors.
	Forget bool
	// InUse, unless nil, replaces KubeVersion, Encoding and External for CRDs in use:
	// CRDs that were compiled or that an API server printed, unless they declare
	// unions themselves. KubeVersion and Encoding default to the recorded ones.
	// The options of a project only apply to its sources.
	InUse *Options
}

// AsCompiled returns the options with InUse set: unless others are given, compiled CRDs then have the
// options that they were compiled with.
func (o Options) AsCompiled() Options {
	if o.InUse == nil {
		used := o
		o.InUse = &used
	}
	return o
}

// compiler returns the options for pkg/compile.
func (o Options) compiler() compile.Options {
	return compile.Options{KubeVersion: o.KubeVersion, Encoding: o.Encoding, Origins: o.Origins}
}
