package judge

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Request is one document of the input. See the package documentation.
type Request struct {
	Name    string            `json:"name"`
	CRD     json.RawMessage   `json:"crd"`
	Version string            `json:"version"`
	Objects []json.RawMessage `json:"objects"`
	Spread  [][]string        `json:"spread"`
	Asks    []Ask             `json:"asks"`
	Brief   bool              `json:"brief"`
}

// Ask is a request to the server to create or update an object.
type Ask struct {
	Old, New int  // indices of Request.Objects; an Old of -1 means create
	Status   bool // update through /status
}

// UnmarshalJSON reads [old, new] or [old, new, "status"].
func (a *Ask) UnmarshalJSON(data []byte) error {
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return fmt.Errorf("an ask: %w", err)
	}
	if len(items) != 2 && len(items) != 3 {
		return fmt.Errorf("an ask has two or three items: %s", data)
	}
	*a = Ask{}
	if err := errors.Join(json.Unmarshal(items[0], &a.Old), json.Unmarshal(items[1], &a.New)); err != nil {
		return fmt.Errorf("the ask %s: %w", data, err)
	}
	if len(items) == 3 {
		if string(items[2]) != `"status"` {
			return fmt.Errorf(`the third item of an ask is "status": %s`, data)
		}
		a.Status = true
	}
	return nil
}

// MarshalJSON is the inverse of UnmarshalJSON.
func (a Ask) MarshalJSON() ([]byte, error) {
	if a.Status {
		return json.Marshal([]any{a.Old, a.New, "status"})
	}
	return json.Marshal([]int{a.Old, a.New})
}

// Answer is the answer to a Request.
type Answer struct {
	Name    string   `json:"name"`
	Install []string `json:"install"`           // the errors that reject the CRD
	Answers any      `json:"answers,omitempty"` // [][]Error, or with Brief [][]int
}

// Error is an error of the server.
type Error struct {
	Field   string `json:"field"`
	Type    string `json:"type"`
	Message string `json:"message"`
	Text    string `json:"text"`
}

// Main reads requests from in and writes answers to out. Each answer is written as soon as it and
// all earlier answers are known.
func Main(in io.Reader, out io.Writer) error {
	// Most allocations are short-lived: with the default setting, garbage collection takes a third
	// of the time.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	minor := linkedMinor()
	type result struct {
		answer Answer
		err    error
	}
	// The capacity limits the number of requests in memory.
	results := make(chan chan result, runtime.GOMAXPROCS(0))
	done := make(chan struct{})
	defer close(done)

	go func() {
		defer close(results)
		decoder := json.NewDecoder(bufio.NewReaderSize(in, 1<<20))
		for n := 1; ; n++ {
			var req Request
			err := decoder.Decode(&req)
			if errors.Is(err, io.EOF) {
				return
			}
			one := make(chan result, 1)
			select {
			case results <- one:
			case <-done:
				return
			}
			if err != nil {
				one <- result{err: fmt.Errorf("decode request %d: %w", n, err)}
				return
			}
			go func() {
				answer, err := judge(minor, &req)
				if err != nil {
					err = fmt.Errorf("request %d, %q: %w", n, req.Name, err)
				}
				one <- result{answer, err}
			}()
		}
	}()

	w := bufio.NewWriterSize(out, 1<<20)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	for one := range results {
		r := <-one
		if r.err != nil {
			return r.err
		}
		if err := errors.Join(encoder.Encode(r.answer), w.Flush()); err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
	}
	return nil
}

// judge answers one request like a server of the given minor version.
func judge(minor int, req *Request) (Answer, error) {
	for i, ask := range req.Asks {
		if ask.Old < -1 || ask.Old >= len(req.Objects) || ask.New < 0 || ask.New >= len(req.Objects) {
			return Answer{}, fmt.Errorf("ask %d: no such object", i)
		}
		if ask.Status && ask.Old < 0 {
			return Answer{}, fmt.Errorf("ask %d: nothing can be created through /status", i)
		}
	}

	crd, refused, err := install(req.CRD)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Name: req.Name, Install: refused}
	if len(refused) > 0 {
		return answer, nil
	}
	answer.Install = []string{}

	s, err := newStrategy(minor, crd, req.Version)
	if err != nil {
		return Answer{}, err
	}
	objects := make([]*resource, len(req.Objects))
	for i, raw := range req.Objects {
		if objects[i], err = s.decode(raw, req.Spread); err != nil {
			return Answer{}, fmt.Errorf("object %d: %w", i, err)
		}
	}

	verdict := func(ask Ask) []Error {
		if ask.Old < 0 {
			return s.create(objects[ask.New])
		}
		if ask.Status {
			return s.updateStatus(objects[ask.New], objects[ask.Old])
		}
		return s.update(objects[ask.New], objects[ask.Old])
	}
	if !req.Brief {
		answers := make([][]Error, len(req.Asks))
		concurrently(len(answers), func(i int) { answers[i] = verdict(req.Asks[i]) })
		answer.Answers = answers
		return answer, nil
	}
	places := s.places(req.Spread)
	answers := make([][]int, len(req.Asks))
	concurrently(len(answers), func(i int) { answers[i] = places.of(verdict(req.Asks[i])) })
	answer.Answers = answers
	return answer, nil
}

// concurrently calls do for 0 to n-1 on all processors.
func concurrently(n int, do func(int)) {
	const chunk = 64 // number of calls to claim at a time
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+chunk-1)/chunk) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				end := int(next.Add(chunk))
				if end-chunk >= n {
					return
				}
				for i := end - chunk; i < min(end, n); i++ {
					do(i)
				}
			}
		}()
	}
	wg.Wait()
}
