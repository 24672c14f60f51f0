package cli

import (
	"os"
	"sync"
)

// spoolMemory is how many bytes a spool keeps in memory.
const spoolMemory = 4 << 20

// spool keeps what is to be printed until all of it is known: in memory while it
// is little, then in a temporary file. Parts may be put at the same time.
type spool struct {
	mu    sync.Mutex
	parts []part
	size  int      // of the parts in memory
	file  *os.File // nil unless needed
	end   int64    // of the file
}

// part is one part of a spool.
type part struct {
	data []byte // unless it is in the file
	off  int64
	n    int
}

// put keeps data as the part with this number. The caller does not change data.
func (s *spool) put(i int, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.size+len(data) <= spoolMemory {
		s.parts[i] = part{data: data}
		s.size += len(data)
		return nil
	}
	if s.file == nil {
		file, err := os.CreateTemp("", ".unioncel-*")
		if err != nil {
			return fileError("keep results: create a temporary file in "+os.TempDir(), err)
		}
		_ = os.Remove(file.Name()) // where an open file can be, so that nothing stays behind
		s.file = file
	}
	if _, err := s.file.WriteAt(data, s.end); err != nil {
		return fileError("keep results in a temporary file", err)
	}
	s.parts[i] = part{off: s.end, n: len(data)}
	s.end += int64(len(data))
	return nil
}

// part returns a part; the caller does not change it.
func (s *spool) part(i int) ([]byte, error) {
	p := s.parts[i]
	if p.n == 0 {
		return p.data, nil
	}
	data := make([]byte, p.n)
	if _, err := s.file.ReadAt(data, p.off); err != nil {
		return nil, fileError("read results from a temporary file", err)
	}
	return data, nil
}

// close removes the temporary file. It may be called more than once, and while parts
// are put.
func (s *spool) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name()) // where it could not be when it was open
	}
}
