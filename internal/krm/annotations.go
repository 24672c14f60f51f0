package krm

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
)

// Annotations for the origin and the use of an item.
const (
	localAnnotation = "config.kubernetes.io/local-config"
	internalPrefix  = "internal.config.kubernetes.io/"
	oldPrefix       = "config.kubernetes.io/"
)

// isTracking reports whether orchestrators use an annotation to track their items. They remove such
// annotations in the end.
func isTracking(key string) bool {
	return strings.HasPrefix(key, internalPrefix) ||
		slices.Contains([]string{oldPrefix + "path", oldPrefix + "index", "config.k8s.io/id", "kustomize.config.k8s.io/id"}, key)
}

// origin returns the annotation path or index, under its new or old name. They locate the source of
// an item.
func origin(item *yaml.Node, name string) string {
	if v := word(item, "metadata", "annotations", internalPrefix+name); v != "" {
		return v
	}
	return word(item, "metadata", "annotations", oldPrefix+name)
}

// isLocal reports whether an item is for tools instead of the API server, as in kustomize.
func isLocal(item *yaml.Node) bool {
	v := word(item, "metadata", "annotations", localAnnotation)
	return v != "" && v != "false"
}

// untracked returns an item without the tracking annotations of orchestrators, and these
// annotations. The compiled CRD records its source, which must not depend on the orchestrator.
// untracked does not modify the item.
func untracked(item *yaml.Node) (*yaml.Node, []*yaml.Node) {
	metadata := lookup(item, "metadata")
	annotations := lookup(metadata, "annotations")
	if annotations == nil || annotations.Kind != yaml.MappingNode {
		return item, nil
	}
	rest := *annotations
	rest.Content = nil
	var tracking []*yaml.Node
	for i := 0; i+1 < len(annotations.Content); i += 2 {
		entry := annotations.Content[i : i+2]
		if isTracking(entry[0].Value) {
			tracking = append(tracking, entry...)
		} else {
			rest.Content = append(rest.Content, entry...)
		}
	}
	if len(tracking) == 0 {
		return item, nil
	}
	replacement := &rest
	if len(rest.Content) == 0 {
		replacement = nil // the item had only tracking annotations
	}
	return replaced(item, metadata, replaced(metadata, annotations, replacement)), tracking
}

// tracked adds tracking annotations to an item in place.
func tracked(item *yaml.Node, tracking []*yaml.Node) {
	if len(tracking) == 0 {
		return
	}
	metadata := lookup(item, "metadata")
	annotations := lookup(metadata, "annotations")
	if annotations == nil {
		annotations = yamltext.MappingNode()
		metadata.Content = append(metadata.Content, yamltext.StringNode("annotations"), annotations)
	}
	annotations.Content = append(annotations.Content, tracking...)
}

// replaced returns a copy of a mapping with a new value in place of value. If by is nil, the copy
// lacks the key.
func replaced(m, value, by *yaml.Node) *yaml.Node {
	c := *m
	c.Content = nil
	for i := 0; i+1 < len(m.Content); i += 2 {
		switch {
		case m.Content[i+1] != value:
			c.Content = append(c.Content, m.Content[i:i+2]...)
		case by != nil:
			c.Content = append(c.Content, m.Content[i], by)
		}
	}
	return &c
}
