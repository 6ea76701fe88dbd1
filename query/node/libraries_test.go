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

// A method that burns gas before it opens one library after the other is run anew for each
// of them, as often as the gas of a question lasts.
func TestRunsForAQuestionHaveOnlySoMuchGasTogether(t *testing.T) {
	libraries, data := map[[32]byte]*cell.Cell{}, cell.BeginCell().EndCell()
	for i := range uint64(8) {
		library := cell.BeginCell().MustStoreUInt(i, 16).EndCell()
		libraries[library.HashKey()] = library
		special, err := cell.BeginCell().MustStoreUInt(2, 8).MustStoreSlice(library.Hash(), 256).EndCellSpecial(true)
		if err != nil {
			t.Fatal(err)
		}
		data = cell.BeginCell().MustStoreRef(special).MustStoreRef(data).EndCell()
	}
	// DROP; 30000, { NOP } REPEAT; c4 PUSH; { CTOS, LDREF, LDREF, DROP, SWAP, CTOS, DROP } AGAIN
	opens := contractWith(0x31, "30 817530 9100E4 ED44 97 D0D4D43001D030 EA", data)
	forever := contractWith(0x32, "30 9100EA", data) // DROP; { NOP } AGAIN
	w := newTown(t, 2, opens, forever)
	c := DefaultConfiguration()
	c.GasLimit = 1_000_000
	n, err := New(c, Dependencies{Report: report.Silent(), Servers: lending{w.servers, libraries}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	run := func(ctx context.Context, a chain.Account) *Ran {
		ran, err := n.RunGetMethod(ctx, Run{Account: address.New(0, a.ID[:]), MaxDepth: 10})
		if err != nil {
			t.Fatal(err)
		}
		return ran
	}
	if ran := run(t.Context(), opens); ran.ExitCode != 9 || ran.GasUsed < 500_000 {
		t.Errorf("without a bound: exit code %d after %d gas, want 9 with all libraries", ran.ExitCode, ran.GasUsed)
	}
	if _, err := n.Share(t.Context(), Question{}, func(ctx context.Context) ([]byte, error) {
		if ran := run(ctx, opens); ran.ExitCode != -14 {
			t.Errorf("with each library anew: exit code %d after %d gas, want -14", ran.ExitCode, ran.GasUsed)
		}
		return nil, nil
	}); err != nil {
		t.Error(err)
	}
	if _, err := n.Share(t.Context(), Question{}, func(ctx context.Context) ([]byte, error) {
		for i := range 6 {
			ran := run(ctx, forever)
			if whole := ran.GasUsed > c.GasLimit/2; ran.ExitCode != -14 || whole != (i < runsOfGas) {
				t.Errorf("run %d: exit code %d after %d gas", i, ran.ExitCode, ran.GasUsed)
			}
		}
		return nil, nil
	}); err != nil {
		t.Error(err)
	}
}
