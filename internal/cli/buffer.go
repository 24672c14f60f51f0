package cli

import (
	"os"
	"sync"
)

// bufferMemory is how many bytes a buffer keeps in memory.
const bufferMemory = 4 << 20

// buffer keeps what is to be printed until all of it is known: in memory while it
// is little, then in a temporary file. Parts may be put at the same time.
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

// put keeps data as the part with this number. The caller does not change data.
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
		_ = os.Remove(file.Name()) // where an open file can be, so that nothing is left
		b.file = file
	}
	if _, err := b.file.WriteAt(data, b.end); err != nil {
		return fileError("keep results in a temporary file", err)
	}
	b.parts[i] = bufferPart{off: b.end, n: len(data)}
	b.end += int64(len(data))
	return nil
}

// part returns a part; the caller does not change it.
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
		_ = os.Remove(b.file.Name()) // where it could not be when it was open
	}
}
