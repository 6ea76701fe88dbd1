package devnet

import (
	"errors"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

func externalTo(t *testing.T, account byte, body uint64) *cell.Cell {
	t.Helper()
	id := make([]byte, 32)
	id[0] = account
	message, err := tlb.ToCell(&tlb.ExternalMessage{
		DstAddr: address.NewAddress(0, 0, id), Body: cell.BeginCell().MustStoreUInt(body, 64).EndCell(),
	})
	must(t, err)
	return message
}

func mustAdd(t *testing.T, m *mempool, message *cell.Cell, now time.Time) bool {
	t.Helper()
	account, err := destination(message)
	must(t, err)
	w, err := m.admit(message, account, now)
	must(t, err)
	added, err := m.add(w)
	must(t, err)
	return added
}

func TestMempoolGivesEachMessageOnceInTheirOrder(t *testing.T) {
	m, now := newMempool(10, time.Minute), time.Unix(1000, 0)
	first, second := externalTo(t, 1, 1), externalTo(t, 2, 2)
	for i, want := range []bool{true, true, false} {
		if got := mustAdd(t, m, []*cell.Cell{first, second, first}[i], now); got != want {
			t.Errorf("message %d: added %v, want %v", i, got, want)
		}
	}
	for _, want := range []*cell.Cell{first, second} {
		got, _, _ := m.take(1, now)
		if len(got) != 1 || got[0].HashKey() != want.HashKey() {
			t.Fatalf("took %v, want %x", got, want.Hash())
		}
	}
	if got, _, _ := m.take(1, now); len(got) != 0 {
		t.Errorf("took %d messages of an empty mempool", len(got))
	}
	if !mustAdd(t, m, first, now) {
		t.Error("a message that was taken cannot be sent again")
	}
}

func TestMempoolDropsMessagesWhoseTimeIsOver(t *testing.T) {
	m, now := newMempool(10, time.Minute), time.Unix(1000, 0)
	mustAdd(t, m, externalTo(t, 1, 1), now)
	mustAdd(t, m, externalTo(t, 1, 2), now.Add(50*time.Second))
	got, _, expired := m.take(10, now.Add(61*time.Second))
	if len(got) != 1 || expired != 1 {
		t.Errorf("took %d and dropped %d, want 1 and 1", len(got), expired)
	}
}

func TestMempoolIsBounded(t *testing.T) {
	m, now := newMempool(3, time.Minute), time.Unix(1000, 0)
	for i := range uint64(3) {
		mustAdd(t, m, externalTo(t, 1, i), now)
	}
	if _, err := m.admit(externalTo(t, 2, 9), accountKey{id: [32]byte{2}}, now); !errors.Is(err, ErrMempoolFull) {
		t.Errorf("a fourth message of three: %v, want %v", err, ErrMempoolFull)
	}
	m = newMempool(10_000, time.Minute)
	for i := range uint64(maxWaiting) {
		mustAdd(t, m, externalTo(t, 1, i), now)
	}
	if _, err := m.admit(externalTo(t, 1, maxWaiting), accountKey{id: [32]byte{1}}, now); !errors.Is(err, ErrMempoolFull) {
		t.Errorf("one account's message number %d: %v, want %v", maxWaiting+1, err, ErrMempoolFull)
	}
	mustAdd(t, m, externalTo(t, 2, 1), now)
}

func TestOnlyExternalMessagesToContractsAreTaken(t *testing.T) {
	internal, err := tlb.ToCell(&tlb.InternalMessage{IHRDisabled: true, DstAddr: address.NewAddress(0, 0, make([]byte, 32)), Body: cell.BeginCell().EndCell()})
	must(t, err)
	for name, message := range map[string]*cell.Cell{"nothing": nil, "an internal message": internal, "an empty cell": cell.BeginCell().EndCell()} {
		if _, err := destination(message); !errors.Is(err, ErrNotExternal) {
			t.Errorf("%s: %v, want %v", name, err, ErrNotExternal)
		}
	}
}
