package node

import (
	"context"
	"time"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
	"golang.org/x/sync/errgroup"

	"tonscribe/ton/address"
	"tonscribe/ton/tvm"
)

// Moment is where the next block begins, as far as the newest one tells.
type Moment struct {
	Master *ton.BlockIDExt // the newest
	Config *tvm.Config
	Now    uint32
	LT     uint64 // the first one of the block
	Shards []*ton.BlockIDExt
}

const (
	// ltAlign is what the first lt of every block is a multiple of.
	ltAlign = 1_000_000
	// sameTime is how far the clock may be from the time of the newest block to be
	// the time of the next one. A chain that stands still, or that is played again,
	// has a time of its own.
	sameTime = 10 * time.Minute
)

// Moment looks where the next block begins.
func (n *Node) Moment(ctx context.Context) (*Moment, error) {
	master, err := n.servers.Head(ctx)
	if err != nil {
		return nil, err
	}
	m := &Moment{Master: master}
	var header *tlb.BlockHeader
	group, inGroup := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		header, err = n.servers.Header(inGroup, master)
		return err
	})
	group.Go(func() (err error) {
		m.Shards, err = n.servers.AllShards(inGroup, master)
		return err
	})
	group.Go(func() (err error) {
		m.Config, err = n.configAt(inGroup, master)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	m.LT = (header.EndLt/ltAlign + 1) * ltAlign
	m.Now = header.GenUtime
	if passed := time.Since(time.Unix(int64(header.GenUtime), 0)); passed > 0 && passed < sameTime {
		m.Now = uint32(time.Now().Unix())
	}
	return m, nil
}

// AccountAt reads an account as a moment finds it.
func (n *Node) AccountAt(ctx context.Context, m *Moment, a address.Address) (*Account, error) {
	return n.accountAt(ctx, m.Master, a)
}

// State returns Account (TL-B), nil for an account that is not there.
func (s *Account) State() *cell.Cell {
	if !s.exists() {
		return nil
	}
	return s.account.State
}
