package product

import (
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/kio/kioutil"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// The annotations of functions-spec for the file of an item and its index there, which kyaml calls
// legacy, and which orchestrators still write.
const (
	legacyPath  = "config.kubernetes.io/path"
	legacyIndex = "config.kubernetes.io/index"
)

const localAnnotation = "config.kubernetes.io/local-config"

// isTracking reports whether orchestrators use an annotation to track their items. They remove such
// annotations in the end.
func isTracking(key string) bool {
	return strings.HasPrefix(key, "internal.config.kubernetes.io/") ||
		slices.Contains([]string{legacyPath, legacyIndex, "config.k8s.io/id", "kustomize.config.k8s.io/id"}, key)
}

// annotation returns the first of several annotations that an item has.
func annotation(item *yaml.RNode, keys ...string) string {
	for _, key := range keys {
		if v := word(item, yaml.MetadataField, yaml.AnnotationsField, key); v != "" {
			return v
		}
	}
	return ""
}

// filePath returns the file of an item.
func filePath(item *yaml.RNode) string {
	return annotation(item, kioutil.PathAnnotation, legacyPath)
}

// isLocal reports whether an item is for tools instead of the API server, as in kustomize.
func isLocal(item *yaml.RNode) bool {
	v := annotation(item, localAnnotation)
	return v != "" && v != "false"
}

// untracked returns a copy of an item without the tracking annotations of orchestrators, and these
// annotations. The compiled CRD records its source, which must not depend on the orchestrator.
func untracked(item *yaml.RNode) (rest *yaml.RNode, tracking []*yaml.Node, err error) {
	rest = item.Copy()
	annotations, wrong := rest.Pipe(yaml.Lookup(yaml.MetadataField, yaml.AnnotationsField))
	if wrong != nil || annotations == nil || annotations.YNode().Kind != yaml.MappingNode { // no annotations, or metadata is no mapping
		return rest, nil, nil
	}
	n := annotations.YNode()
	entries := n.Content
	n.Content = nil
	for entry := range slices.Chunk(entries, 2) {
		if isTracking(entry[0].Value) {
			tracking = append(tracking, entry...)
		} else {
			n.Content = append(n.Content, entry...)
		}
	}
	if len(n.Content) == 0 && len(tracking) > 0 { // the item had only tracking annotations
		err = rest.PipeE(yaml.Get(yaml.MetadataField), yaml.Clear(yaml.AnnotationsField))
	}
	return rest, tracking, err
}

// track adds tracking annotations to an item.
func track(item *yaml.RNode, tracking []*yaml.Node) error {
	if len(tracking) == 0 {
		return nil
	}
	annotations, err := item.Pipe(yaml.LookupCreate(yaml.MappingNode, yaml.MetadataField, yaml.AnnotationsField))
	if err == nil {
		annotations.YNode().Content = append(annotations.YNode().Content, tracking...)
	}
	return err
}

// word returns the scalar at the end of a path of keys, or "".
func word(n *yaml.RNode, path ...string) string {
	v, err := n.Pipe(yaml.Lookup(path...))
	if err != nil {
		return ""
	}
	return yaml.GetValue(v)
}
