package yamltext

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/json"
)

// Value returns the value of a document that kubectl reads.
func (f *File) Value(d *Document) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("invalid YAML: %v", r)
		}
	}()
	data, err := JSON(f.Src[d.Start:d.End])
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	return v, err
}
