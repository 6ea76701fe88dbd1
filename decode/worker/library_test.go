package worker

import (
	"bytes"
	"context"
	"math/big"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	devchain "tonscribe/devnet/chain"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// lender runs PUSHREF, PUSHINT, SETLIBCODE with every tick: 2 lends the library to
// everybody, 1 keeps it to the account.
func lender(n byte, workchain int32, mode byte, library *cell.Cell) devchain.Account {
	code := cell.BeginCell().MustStoreSlice([]byte{0x88, 0x70 + mode, 0xfb, 0x06}, 32).MustStoreRef(library).EndCell()
	return devchain.Account{Workchain: workchain, ID: [32]byte(bytes.Repeat([]byte{n}, 32)), Code: code, Data: cell.BeginCell().EndCell(),
		Balance: big.NewInt(1e12), Tick: true}
}

func TestLibrariesThatAccountsOfTheMasterchainLendToAllAreTold(t *testing.T) {
	inner := cell.BeginCell().MustStoreUInt(7, 8).EndCell()
	public := cell.BeginCell().MustStoreUInt(0xabcdef, 24).MustStoreRef(inner).EndCell()
	private := cell.BeginCell().MustStoreUInt(0xfedcba, 24).MustStoreRef(inner).EndCell()
	const dawn = 1_760_000_000
	made, err := devchain.New(devchain.Options{Seed: 1, GenUtime: dawn, Accounts: []devchain.Account{
		lender(0x61, -1, 2, public), lender(0x62, -1, 1, private), lender(0x63, -1, 2, public)}})
	if err != nil {
		t.Fatal(err)
	}
	var bundles []*source
	for i := range uint32(4) {
		b, err := made.Step(dawn+1+i, nil)
		if err != nil {
			t.Fatal(err)
		}
		bundles = append(bundles, sourceOf(b))
	}
	master, base := made.Zerostates()
	for name, cells := range map[string]string{"with a store": t.TempDir(), "without a store": ""} {
		s := onEmbedded(t, 2)
		configuration := DefaultConfiguration()
		configuration.Cells.Dir = cells
		s.run(bundles, configuration, func(_ context.Context, id *record.BlockId) ([]byte, error) {
			for _, z := range []*devchain.Zerostate{master, base} {
				if bytes.Equal(z.ID.FileHash, id.FileHash) {
					return z.Data, nil
				}
			}
			return nil, nil
		})
		told := 0
		for _, records := range s.output(schema.Accounts, 4, time.Minute) {
			for _, r := range records {
				for _, l := range r.GetAccounts().GetLibraries() {
					told++
					checkBoC(t, "library", l.Boc, l.Hash)
					if !bytes.Equal(l.Hash, public.Hash()) || r.McSeqno != 1 {
						t.Errorf("%s: library %x is told with bundle %d, want %x with 1", name, l.Hash, r.McSeqno, public.Hash())
					}
				}
			}
		}
		if told < 1 || told > 2 { // once for every account, as far as accounts differ
			t.Errorf("%s: libraries were told %d times, want once or twice", name, told)
		}
	}
}
