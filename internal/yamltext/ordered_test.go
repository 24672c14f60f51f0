package yamltext_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/unioncel/unioncel/internal/yamltext"
)

var errOdd = errors.New("odd")

func numbers(n int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = i
	}
	return l
}

// Results arrive in the order of the items, each with its own error, however long each item took.
func TestEach(t *testing.T) {
	items := numbers(200)
	for _, ahead := range []int{0, 3, len(items)} {
		var running atomic.Int32
		var got []int
		yamltext.EachInOrder(slices.Values(items), ahead, func(i int) (int, error) {
			if n := running.Add(1); int(n) > runtime.GOMAXPROCS(0) {
				t.Errorf("%d at a time", n)
			}
			defer running.Add(-1)
			time.Sleep(time.Duration(i*7%5) * 100 * time.Microsecond)
			if i%2 == 1 {
				return 0, errOdd
			}
			return 10 * i, nil
		}, func(i, result int, err error) {
			if odd := i%2 == 1; odd != errors.Is(err, errOdd) || !odd && result != 10*i {
				t.Errorf("%d: %d, %v", i, result, err)
			}
			got = append(got, i)
		})
		if !slices.Equal(got, items) {
			t.Errorf("%d ahead: %v", ahead, got)
		}
	}
}

// While the first item is slow, Each pulls no more items than may wait.
func TestBounded(t *testing.T) {
	const ahead = 4
	asked, hold := make(chan int, 100), make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		yamltext.EachInOrder(func(yield func(int) bool) {
			for i := range 100 {
				asked <- i
				yield(i)
			}
		}, ahead, func(i int) (int, error) {
			if i == 0 {
				<-hold
			}
			return i, nil
		}, func(int, int, error) {})
	}()
	time.Sleep(20 * time.Millisecond)
	if n := len(asked); n > ahead+2 { // the item in progress, those ahead, and one blocked on the channel
		t.Errorf("%d were asked for", n)
	}
	close(hold)
	<-finished
}

// A panic becomes the error of its item, with the stack of the panic.
func TestPanic(t *testing.T) {
	var failed []int
	yamltext.EachInOrder(slices.Values(numbers(9)), 9, func(i int) (string, error) {
		return strings.Repeat("x", 4-i), nil
	}, func(i int, _ string, err error) {
		var p *yamltext.Panic
		if errors.As(err, &p) {
			failed = append(failed, i)
			if d := p.Diagnostic("a.yaml").String(); !strings.Contains(string(p.Stack), "TestPanic") || d != "a.yaml: error: UC405: internal error: strings: negative Repeat count" {
				t.Errorf("%s\n%s", d, p.Stack)
			}
		}
	})
	if !slices.Equal(failed, []int{5, 6, 7, 8}) {
		t.Error(failed)
	}
}
