package lite

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Answered gathers which servers gave the answers to the requests of a context.
type Answered struct {
	mu      sync.Mutex
	numbers []int
}

type answeredKey struct{}

// WithAnswered gives a context whose requests a says the servers of.
func WithAnswered(ctx context.Context, a *Answered) context.Context {
	return context.WithValue(ctx, answeredKey{}, a)
}

// noteAnswer notes the server of an answer, if somebody wants to know.
func noteAnswer(ctx context.Context, s *server) {
	a, ok := ctx.Value(answeredKey{}).(*Answered)
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if i, found := slices.BinarySearch(a.numbers, s.number); !found {
		a.numbers = slices.Insert(a.numbers, i, s.number)
	}
}

// String is the places of the servers in the TON global config, from 0 on, such
// as 0,3; empty when none was asked.
func (a *Answered) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []string
	for _, n := range a.numbers {
		list = append(list, strconv.Itoa(n))
	}
	return strings.Join(list, ",")
}
