package devnet

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/history"
)

// largeMessages are external messages of some hundred bytes and 2^60 cells as a tree.
func largeMessages(t *testing.T) map[string]*cell.Cell {
	t.Helper()
	bomb, small := cell.BeginCell().EndCell(), cell.BeginCell().EndCell()
	for range 60 {
		bomb = cell.BeginCell().MustStoreRef(bomb).MustStoreRef(bomb).EndCell()
	}
	to := address.NewAddress(0, 0, bytes.Repeat([]byte{7}, 32))
	list := map[string]*cell.Cell{}
	for name, m := range map[string]*tlb.ExternalMessage{
		"body": {DstAddr: to, Body: bomb},
		"code": {DstAddr: to, Body: small, StateInit: &tlb.StateInit{Code: bomb, Data: small}},
		"data": {DstAddr: to, Body: small, StateInit: &tlb.StateInit{Code: small, Data: bomb}},
	} {
		c, err := tlb.ToCell(m)
		must(t, err)
		list[name] = c
	}
	return list
}

func TestAMessageLargeAsATreeNeverWaitsForABlock(t *testing.T) {
	for name, message := range largeMessages(t) {
		if _, err := destination(message); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v, want %v", name, err, ErrTooLarge)
		}
		m := newMempool(10, time.Minute)
		dropped, err := m.restore([]history.Waiting{{Number: 3, Message: message, Expires: time.Now().Add(time.Hour)}})
		if err != nil || len(dropped) != 1 || m.len() != 0 {
			t.Errorf("%s: after a restart %d wait and %d are dropped (%v), want none and one", name, m.len(), len(dropped), err)
		}
	}
}

func TestAChainThatStandsIsNotReady(t *testing.T) {
	store, err := history.Open(t.TempDir(), history.Options{})
	must(t, err)
	defer store.Close()
	c := &Component{configuration: DefaultConfiguration(), history: store}
	c.beat.Store(time.Now().UnixNano())
	if err := c.Ready(context.Background()); err != nil {
		t.Errorf("after a block: %v, want nil", err)
	}
	c.beat.Store(time.Now().Add(-time.Minute).UnixNano())
	if err := c.Ready(context.Background()); err == nil || !strings.Contains(err.Error(), "stands") {
		t.Errorf("a minute later: %v, want that the chain stands", err)
	}
}
