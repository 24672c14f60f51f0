//go:build compat

package compat

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"time"
)

// request is a request to a judge; see judge.Request.
type request struct {
	Name    string          `json:"name"`
	CRD     json.RawMessage `json:"crd"`
	Version string          `json:"version,omitempty"`
	Objects []any           `json:"objects"`
	Spread  [][]string      `json:"spread,omitempty"`
	Asks    []ask           `json:"asks"`
	Brief   bool            `json:"brief,omitempty"`
}

// ask is the update of one object to another, or the creation of an object if Old is negative.
type ask struct {
	Old, New int
	Status   bool // through /status
}

func (a ask) MarshalJSON() ([]byte, error) {
	if a.Status {
		return json.Marshal([]any{a.Old, a.New, "status"})
	}
	return json.Marshal([]int{a.Old, a.New})
}

// answer is the answer of a judge; see judge.Answer.
type answer struct {
	Name    string          `json:"name"`
	Install []string        `json:"install"`
	Answers json.RawMessage `json:"answers"`
}

// refusal is an error of the server; see judge.Error.
type refusal struct{ Field, Type, Message, Text string }

// question is a request with the function that handles the answer. got has an item for every ask:
// errors or, with Brief, the indices of the paths with errors.
type question struct {
	request
	evaluations int // number of validated unions
	brief       func(got [][]int)
	full        func(got [][]refusal)
}

// ask sends the cases of one source to a judge, and returns the CPU time of the judge.
func (v *version) ask(program string, source func(*version, func(*question))) time.Duration {
	command := exec.CommandContext(v.Context(), program)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	in, err := command.StdinPipe()
	if err != nil {
		v.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		v.Fatal(err)
	}
	if err := command.Start(); err != nil {
		v.Fatal(err)
	}

	asked := make(chan *question, 1<<16)
	written := make(chan error, 1)
	go func() {
		defer close(asked)
		w := bufio.NewWriter(in)
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		var failed error
		// A test that fails in source ends the goroutine.
		defer func() { written <- errors.Join(failed, in.Close()) }()
		source(v, func(q *question) {
			if failed == nil && len(q.Asks) > 0 {
				asked <- q
				failed = errors.Join(encoder.Encode(q.request), w.Flush())
			}
		})
	}()

	answers := json.NewDecoder(bufio.NewReader(out))
	for q := range asked {
		var a answer
		if err := answers.Decode(&a); err != nil {
			if errors.Is(err, io.EOF) {
				err = command.Wait()
			}
			v.Fatalf("%s answers no more: %v\n%s", program, err, &complaints)
		}
		v.answered(q, a)
	}
	if err := errors.Join(<-written, command.Wait()); err != nil {
		v.Fatalf("%v\n%s", err, &complaints)
	}
	return command.ProcessState.UserTime() + command.ProcessState.SystemTime()
}

func (v *version) answered(q *question, a answer) {
	v.crds++
	v.asks += len(q.Asks)
	v.evaluations += q.evaluations
	if a.Name != q.Name {
		v.Fatalf("asked %q, answered %q", q.Name, a.Name)
	}
	if len(a.Install) > 0 {
		v.disagree("%s: the server refuses the CRD: %q", q.Name, a.Install)
		return
	}
	var err error
	if q.Brief {
		var got [][]int
		if err = json.Unmarshal(a.Answers, &got); err == nil {
			q.brief(got)
		}
	} else {
		var got [][]refusal
		if err = json.Unmarshal(a.Answers, &got); err == nil {
			q.full(got)
		}
	}
	if err != nil {
		v.Fatalf("%s: %v", q.Name, err)
	}
}
