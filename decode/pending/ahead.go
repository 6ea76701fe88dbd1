package pending

import (
	"context"
	"sync"

	"tonscribe/ton/address"
)

// aheadAtOnce is how many states are asked for at a time.
const aheadAtOnce = 8

// ahead asks for the states of accounts that messages are on the way to, while others
// are being executed. All of it but what it asks is for one goroutine.
type ahead struct {
	world   World
	slots   chan struct{}
	asked   map[address.Address]chan answered
	running sync.WaitGroup
}

type answered struct {
	State
	err error
}

func newAhead(w World) *ahead {
	return &ahead{world: w, slots: make(chan struct{}, aheadAtOnce), asked: map[address.Address]chan answered{}}
}

// ask asks for a state, once, until ctx ends.
func (a *ahead) ask(ctx context.Context, account address.Address) {
	if a.asked[account] != nil {
		return
	}
	to := make(chan answered, 1)
	a.asked[account] = to
	a.running.Go(func() {
		select {
		case a.slots <- struct{}{}:
			defer func() { <-a.slots }()
		case <-ctx.Done():
			to <- answered{err: context.Cause(ctx)}
			return
		}
		s, err := a.world.State(ctx, account)
		to <- answered{s, err}
	})
}

// state returns a state that may have been asked for. It is called once for an account.
func (a *ahead) state(ctx context.Context, account address.Address) (State, error) {
	to := a.asked[account]
	if to == nil {
		return a.world.State(ctx, account)
	}
	select {
	case got := <-to:
		return got.State, got.err
	case <-ctx.Done():
		return State{}, context.Cause(ctx)
	}
}

// wait ends when nothing is asked any more.
func (a *ahead) wait() { a.running.Wait() }
