package product

import (
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// compilerKind is the kind that compiles CRDs.
var compilerKind = kindOf("UnionCompiler", readCompiler,
	yamltext.ConfigKey{Name: "files", Example: "[crds/backup.yaml]"}, unionsKey, schemasKey, yamltext.ConfigKey{Name: "kubeVersion", Example: `"1.30"`},
	yamltext.ConfigKey{Name: "encoding", Example: "auto"}, yamltext.ConfigKey{Name: "noAnnotation", Example: "true"},
	yamltext.ConfigKey{Name: "forget", Example: "true"},
)

// compiler has the options of a UnionCompiler.
type compiler struct {
	files []string // the files to generate from
	opts  crdpatch.Options
}

func readCompiler(r *run, fields map[string]yamltext.ConfigValue) function {
	return &compiler{
		files: names(fields["files"]),
		opts: crdpatch.Options{
			KubeVersion:  yamltext.ParseConfigValue(fields["kubeVersion"], compile.ParseKubeVersion),
			Encoding:     yamltext.ParseConfigValue(fields["encoding"], compile.ParseEncoding),
			Origins:      compile.Origins{KubeVersion: fields["kubeVersion"].At(), Encoding: fields["encoding"].At()},
			NoAnnotation: fields["noAnnotation"].Bool(false),
			Forget:       fields["forget"].Bool(false),
			External:     r.declarations(fields),
		},
	}
}

func (c *compiler) items(r *run) []*yaml.RNode {
	if len(c.files) == 0 {
		r.needsItems("files", "name files, as in files: [crds/backup.yaml], or list the "+r.kind.name+" under transformers")
	}
	work := r.received(func(item *yaml.RNode) bool { return !isLocal(item) && yamltext.MayHold(word(item, yaml.KindField)) })
	work = append(work, r.read("files", c.files)...)
	eachPiece(work, (*piece).encode)
	r.missing(work, c.opts)
	if !r.gather(work) || !r.convert(work, func(name string, src []byte) ([]byte, diag.List) {
		return crdpatch.Compile(crdpatch.Open(name, src).WithLimits(r.host.Limits), c.opts)
	}) {
		return nil
	}
	return r.joined(work)
}
