package cli

import (
	"os"
	"sync"
)

// bufferMemory is the number of bytes that a buffer keeps in memory.
const bufferMemory = 4 << 20

// buffer holds output until all of it is complete: in memory up to bufferMemory, then in a
// temporary file. Parts may be put concurrently.
type buffer struct {
	mu    sync.Mutex
	parts []bufferPart
	size  int      // of the parts in memory
	file  *os.File // nil unless needed
	end   int64    // of the file
}

// bufferPart is one part of a buffer.
type bufferPart struct {
	data []byte // unless it is in the file
	off  int64
	n    int
}

// put stores data as part i. The caller must not modify data afterwards.
func (b *buffer) put(i int, data []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.size+len(data) <= bufferMemory {
		b.parts[i] = bufferPart{data: data}
		b.size += len(data)
		return nil
	}
	if b.file == nil {
		file, err := os.CreateTemp("", ".unioncel-*")
		if err != nil {
			return fileError("keep results: create a temporary file in "+os.TempDir(), err)
		}
		_ = os.Remove(file.Name()) // if the system can remove an open file, nothing is left behind
		b.file = file
	}
	if _, err := b.file.WriteAt(data, b.end); err != nil {
		return fileError("keep results in a temporary file", err)
	}
	b.parts[i] = bufferPart{off: b.end, n: len(data)}
	b.end += int64(len(data))
	return nil
}

// part returns part i; the caller must not modify it.
func (b *buffer) part(i int) ([]byte, error) {
	p := b.parts[i]
	if p.n == 0 {
		return p.data, nil
	}
	data := make([]byte, p.n)
	if _, err := b.file.ReadAt(data, p.off); err != nil {
		return nil, fileError("read results from a temporary file", err)
	}
	return data, nil
}

// close removes the temporary file.
func (b *buffer) close() {
	if b.file != nil {
		_ = b.file.Close()
		_ = os.Remove(b.file.Name()) // for systems that cannot remove an open file
	}
}
