package yamltext

import "sync/atomic"

// The steps, each counted over the life of the process.
var (
	Parses       atomic.Int64 // documents parsed as YAML nodes
	Readings     atomic.Int64 // documents read as kubectl reads them
	Decodes      atomic.Int64 // CRDs decoded into Go types
	Compilations atomic.Int64 // CRDs compiled, up to the API server's validation of the result
)
