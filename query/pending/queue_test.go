package pending

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	tonutils "github.com/xssnick/tonutils-go/address"

	"tonscribe/internal/report"
	"tonscribe/query/node"
	"tonscribe/ton/address"
)

// sentTo is a message to an account, with a body.
func sentTo(t *testing.T, n int, body *cell.Cell) *cell.Cell {
	t.Helper()
	to := accountOf(n)
	m, err := tlb.ToCell(&tlb.ExternalMessage{DstAddr: tonutils.NewAddress(0, 0, to.ID()), Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// asked is a Node that notes whose states it is asked for, once it may answer.
type asked struct {
	slow
	mu       sync.Mutex
	accounts []address.Address
}

func (n *asked) Moment(ctx context.Context) (*node.Moment, error) {
	if _, err := n.slow.Moment(ctx); ctx.Err() != nil {
		return nil, err
	}
	return &node.Moment{Master: &ton.BlockIDExt{}}, nil
}

func (n *asked) AccountAt(_ context.Context, _ *node.Moment, a address.Address) (*node.Account, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.accounts = append(n.accounts, a)
	return nil, errors.New("nothing is known of it")
}

// Each message may cost seconds.
func TestAClientDoesNotWaitForAllThatAnotherOneSent(t *testing.T) {
	p, err := New(DefaultConfiguration(), Dependencies{Report: report.Silent(), Emulator: nobody{}})
	if err != nil {
		t.Fatal(err)
	}
	n := &asked{slow: slow{make(chan struct{})}}
	p.Start(n)
	t.Cleanup(p.Stop)
	nothing := cell.BeginCell().EndCell()
	send := func(client string, id, to int) {
		p.Accepted(client, node.Accepted{Sent: node.Sent{Hash: hashOf(id), Normal: hashOf(id)}, BoC: sentTo(t, to, nothing).ToBOC()})
	}
	const many = 100
	for i := range many {
		send("stranger", i, 1)
	}
	send("other", many, 2)
	send("third", many+1, 3)
	close(n.until)
	await(t, "not all messages are worked out", func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		return len(n.accounts) == many+2
	})
	for client, account := range map[string]address.Address{"other": accountOf(2), "third": accountOf(3)} {
		if at := slices.Index(n.accounts, account); at > 4 {
			t.Errorf("%d messages of a stranger came before the one of the %s client", at, client)
		}
	}
}

// However few clients fill the queue, there is room for one of whom less waits.
func TestAFullQueueHasRoomForAClientOfWhomLessWaits(t *testing.T) {
	q := newQueue(8)
	for i := range 8 {
		if without := q.push(message{client: []string{"a", "a", "b"}[i%3]}); without != nil {
			t.Fatalf("no room for message %d", i)
		}
	}
	for _, client := range []string{"c", "d", "c", "e", "a"} { // of a there are 6, of b 2
		if without := q.push(message{client: client}); without == nil || without.client != "a" {
			t.Errorf("one of %s: there is no room for %+v, want one of a", client, without)
		}
	}
	var served []string
	for len(q.ready) > 0 {
		<-q.ready
		served = append(served, q.pop().client)
	}
	if want := []string{"a", "b", "c", "d", "e", "a", "b", "c"}; !slices.Equal(served, want) {
		t.Errorf("served %q, want %q", served, want)
	}
}

// fanned is a tree of different cells.
func fanned(depth int, next *uint64) *cell.Cell {
	b := cell.BeginCell()
	if depth == 0 {
		*next++
		return b.MustStoreUInt(*next, 16).EndCell()
	}
	for range 4 {
		b.MustStoreRef(fanned(depth-1, next))
	}
	return b.EndCell()
}

// A message of 64 KiB takes a MiB when its cells are spread out.
func TestMessagesThatWaitTakeNoMoreThanTheirBytes(t *testing.T) {
	c := DefaultConfiguration()
	p, err := New(c, Dependencies{Report: report.Silent(), Emulator: nobody{}})
	if err != nil {
		t.Fatal(err)
	}
	p.Start(slow{make(chan struct{})})
	t.Cleanup(p.Stop)
	leaf := uint64(0)
	boc := sentTo(t, 1, fanned(6, &leaf)).ToBOC()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	const many = 100
	for i := range many {
		p.Accepted("client", node.Accepted{Sent: node.Sent{Hash: hashOf(i), Normal: hashOf(i)}, BoC: slices.Clone(boc)})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if held := int(after.HeapAlloc) - int(before.HeapAlloc); held > 2*many*len(boc) {
		t.Errorf("%d messages of %d bytes each take %d bytes", many, len(boc), held)
	}
	runtime.KeepAlive(p)
}
