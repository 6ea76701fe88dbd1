package decode

import (
	"bytes"
	"math"
	"math/big"
	"testing"

	tcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/schema/stored"
)

// Nobody is charged the import fee that a message from outside names, so anybody can
// write any number there, and validators take the message.
func TestAnImportFeeOfAnySizeDoesNotStopABlock(t *testing.T) {
	for fee, want := range map[string]uint64{
		"0": 0, "18446744073709551615": math.MaxUint64, "18446744073709551616": math.MaxUint64,
		new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 120), big.NewInt(1)).String(): math.MaxUint64,
	} {
		n, _ := new(big.Int).SetString(fee, 10)
		message := addr(begin().MustStoreUInt(0b10_00, 4), 0x11).MustStoreBigCoins(n).MustStoreUInt(0b00, 2).MustStoreUInt(0xabcdef01, 32).EndCell()
		b := sample()
		b.txs = map[byte]map[uint64]*tcell.Cell{0x11: {100: transactionCell(0x11, 100, message, nil, descriptions()[0])}}
		r, err := Block(b.boc(t), 1)
		if err != nil {
			t.Errorf("import fee %s: %v", fee, err)
			continue
		}
		in := r.Transactions[0].InMsg
		equal(t, "import fee "+fee, in.ImportFee, want)
		equal(t, "what follows it", in.GetOpcode(), 0xabcdef01)
		equal(t, "hash", bytes.Equal(in.Hash, message.Hash()), true)
		raw, err := r.Transactions[0].MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		packed, err := stored.Pack(nil, raw, r.Transactions[0])
		if err != nil {
			t.Fatal(err)
		}
		back := new(record.Transaction)
		if err := stored.Unpack(back, packed); err != nil || !back.EqualVT(r.Transactions[0]) {
			t.Errorf("import fee %s: the transaction is not the same after it was stored: %v", fee, err)
		}
	}
}

// Validators name the version that they know in their blocks before the network votes
// for it: until then messages have an ihr_fee there, which is never as small as flags are.
func TestAFeeIsNotTakenForFlagsBeforeTheNetworkHasThem(t *testing.T) {
	const fee, forward, value, before = 600_000, 400_000, 7, 5_000_000
	message := addr(addr(begin().MustStoreUInt(0b0010, 4), 0x11), 0x22)
	currency(message, "7", nil).MustStoreCoins(fee).MustStoreCoins(forward).MustStoreUInt(101, 64).MustStoreUInt(1, 32).MustStoreUInt(0, 2)
	b := sample()
	b.version = 12
	b.txs = map[byte]map[uint64]*tcell.Cell{0x11: {100: transactionCell(0x11, 100, nil, []*tcell.Cell{message.EndCell()}, descriptions()[3])}}
	r, err := Block(b.boc(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	tx := r.Transactions[0]
	equal(t, "ihr_fee", tx.OutMsgs[0].IhrFee, fee)
	equal(t, "extra_flags", tx.OutMsgs[0].ExtraFlags == nil, true)
	after := before - value - fee - forward - tx.TotalFees
	wantBefore(t, tx, before, after)
}
