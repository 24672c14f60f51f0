package crdfile

import (
	"cmp"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/union"
)

// Options say how the unions of a file are compiled; the zero value is the default.
type Options struct {
	// KubeVersion and Encoding are as in compile.Options.
	KubeVersion string
	Encoding    compile.Encoding
	// KeepUnions leaves the declarations in the output. The API server rejects
	// them under strict field validation, kubectl's default.
	KeepUnions bool
	// NoAnnotation leaves the annotation out. The output then cannot be
	// decompiled, and compiling it again leaves it as it is.
	NoAnnotation bool
	// Describe adds a sentence about each union to the description of its discriminator
	// or, without one, of the union object.
	Describe bool
	// External are declarations outside the CRDs. The annotation
	// remembers them, so that the output can be compiled again without them.
	External union.Externals
	// AsRecorded takes KubeVersion, Encoding and Describe, where they are not given, from
	// the annotation of a compiled CRD.
	AsRecorded bool
	// Forget leaves rules in place that the annotation claims and that cannot be
	// confirmed: they are treated as hand-written ones, and claimed no more. Without
	// it they are errors.
	Forget bool
	// InUse, unless nil, replaces KubeVersion, Encoding, Describe and External for the CRDs
	// that are in use: those that were compiled or printed by an API server, unless they
	// declare unions themselves. Options of a project are for its sources.
	InUse *Options
}

// or returns the options, and another list's where they are not given.
func (o Options) or(other Options) Options {
	o.Encoding = cmp.Or(o.Encoding, other.Encoding)
	o.KubeVersion = cmp.Or(o.KubeVersion, other.KubeVersion)
	o.Describe = o.Describe || other.Describe
	return o
}

// Compiler are the options as the compiler takes them.
func (o Options) Compiler() compile.Options {
	return compile.Options{KubeVersion: o.KubeVersion, Encoding: o.Encoding}
}
