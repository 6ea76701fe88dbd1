package node

import (
	"context"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/internal/report"
	"tonscribe/ton/address"
)

// lending are Servers of a chain that has some public libraries.
type lending struct {
	Servers
	libraries map[[32]byte]*cell.Cell
}

func (s lending) Libraries(_ context.Context, hashes ...[]byte) ([]*cell.Cell, error) {
	found := make([]*cell.Cell, len(hashes))
	for i, hash := range hashes {
		found[i] = s.libraries[[32]byte(hash)]
	}
	return found, nil
}

// Send implements Servers.
func (lending) Send(context.Context, []byte) error { return nil }

func TestMessagesAreTriedWithTheLibrariesOfTheCodeThatTheyBringAndOfItsParts(t *testing.T) {
	accepts := cell.BeginCell().MustStoreUInt(0xF800, 16).EndCell()
	libraryOf := func(c *cell.Cell) *cell.Cell {
		library, err := cell.BeginCell().MustStoreUInt(2, 8).MustStoreSlice(c.Hash(), 256).EndCellSpecial(true)
		if err != nil {
			t.Fatal(err)
		}
		return library
	}
	// PUSHREFCONT of a library, EXECUTE
	calls := cell.BeginCell().MustStoreUInt(0x8AD8, 16).MustStoreRef(libraryOf(accepts)).EndCell()
	nothing := cell.BeginCell().EndCell()
	codes := map[string]*cell.Cell{"a library": libraryOf(accepts), "a part that is a library": calls, "a library with such a part": libraryOf(calls)}
	bodies, accounts := map[string]Body{}, []chain.Account(nil)
	for name, code := range codes {
		b := Body{Body: nothing, Code: code, Data: nothing}
		id := b.stateInit().Hash()
		b.To = address.New(0, id)
		bodies[name] = b
		accounts = append(accounts, chain.Account{ID: [32]byte(id), Balance: big.NewInt(1_000_000_000)})
	}
	w := newTown(t, 2, accounts...)
	n, err := New(DefaultConfiguration(), Dependencies{Report: report.Silent(), Servers: lending{w.servers, map[[32]byte]*cell.Cell{accepts.HashKey(): accepts, calls.HashKey(): calls}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	for name, b := range bodies {
		if _, err := n.Send(t.Context(), b.Message()); err != nil {
			t.Errorf("code that is %s: %v, want it sent", name, err)
		}
		if fees, err := n.EstimateFee(t.Context(), b, false); err != nil || fees.Gas == 0 {
			t.Errorf("code that is %s: fees %+v, %v; want some for gas", name, fees, err)
		}
	}
}

// A node knows previous blocks and every library; what fails for want of them here is
// for lite servers to refuse.
func TestMessagesThatOnlyANodeCanTryAreSent(t *testing.T) {
	library, err := cell.BeginCell().MustStoreUInt(2, 8).MustStoreSlice(make([]byte, 32), 256).EndCellSpecial(true)
	if err != nil {
		t.Fatal(err)
	}
	nothing := cell.BeginCell().EndCell()
	blocks := contractWith(1, "F83400 30 F800", nothing) // PREVMCBLOCKS, DROP, ACCEPT
	data := contractWith(2, "ED44 D0 30 F800", library)  // c4 PUSH, CTOS, DROP, ACCEPT
	refuses := contractWith(3, "F232 F800", nothing)     // THROW 50
	w := newTown(t, 2, blocks, data, refuses)
	n, err := New(DefaultConfiguration(), Dependencies{Report: report.Silent(), Servers: lending{Servers: w.servers}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	for name, c := range map[string]struct {
		account chain.Account
		sent    bool
	}{"previous blocks": {blocks, true}, "a library in data": {data, true}, "a failure": {refuses, false}} {
		_, err := n.Send(t.Context(), Body{To: address.New(0, c.account.ID[:]), Body: nothing}.Message())
		if (err == nil) != c.sent {
			t.Errorf("%s: %v, want it sent: %t", name, err, c.sent)
		}
	}
}
