package decode

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	tcell "github.com/xssnick/tonutils-go/tvm/cell"
	"google.golang.org/protobuf/encoding/prototext"

	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
	"tonscribe/ton/cell"
)

// TestABuiltBlockIsWhatTonutilsReads compares a block with every kind of
// message, description and phase, before and after global version 12.
func TestABuiltBlockIsWhatTonutilsReads(t *testing.T) {
	for _, version := range []uint32{11, 12} {
		b := sample()
		b.version = version
		boc := b.boc(t)
		r, err := Block(boc, 43)
		if err != nil {
			t.Fatal(err)
		}
		_, list, cells := tonutilsBlock(t, boc)
		if len(list) != 13 || len(r.Transactions) != 13 || r.Block.TxCount != 13 {
			t.Fatalf("%d transactions, tonutils-go has %d", len(r.Transactions), len(list))
		}
		other := reference{t: t, version: version}
		want := map[string]*record.Transaction{}
		for _, tx := range list {
			want[string(tx.Hash)] = other.transaction(tx, cells[string(tx.Hash)])
		}
		types := map[record.TransactionType]bool{}
		for i, got := range r.Transactions {
			w := want[string(got.Hash)]
			w.McSeqno, w.Block = 43, &record.BlockRef{Shard: FullShard, Seqno: 42}
			if !got.EqualVT(w) {
				t.Errorf(" got %s\nwant %s", prototext.Format(got), prototext.Format(w))
			}
			types[got.Type] = true
			if i > 0 && got.Lt < r.Transactions[i-1].Lt {
				t.Errorf("lt %d after %d", got.Lt, r.Transactions[i-1].Lt)
			}
		}
		if len(types) != 7 {
			t.Errorf("%d types of transactions", len(types))
		}
		if r.Transactions[0].OutMsgs[0] != r.Transactions[1].InMsg {
			t.Error("a message of two transactions was decoded twice")
		}
		checkBuiltMessages(t, r.Transactions[0], version)
	}
}

// checkBuiltMessages states what is in the sample, without another library.
func checkBuiltMessages(t *testing.T, tx *record.Transaction, version uint32) {
	t.Helper()
	first, rewritten, masterchain := tx.OutMsgs[0], tx.OutMsgs[1], tx.OutMsgs[2]
	equal(t, "value", first.Value, 1<<64-1)
	equal(t, "extra currencies", len(first.ValueExtra), 2)
	equal(t, "opcode", first.GetOpcode(), 0x0f8a7ea5)
	equal(t, "ihr_fee", first.IhrFee, map[uint32]uint64{11: 3, 12: 0}[version])
	equal(t, "extra_flags", value(first.ExtraFlags), map[uint32]uint64{11: 0, 12: 3}[version])
	equal(t, "has extra_flags", first.ExtraFlags != nil, version >= 12)
	equal(t, "anycast", rewritten.Destination[4], 0b10110_011)
	equal(t, "addr_var", text(masterchain.Destination), "-1:"+text(append([]byte{0, 0, 0, 0}, account(0x44)...))[2:])
	equal(t, "short addr_var", len(tx.OutMsgs[5].Destination), 0)
	equal(t, "opcode of a short body", masterchain.Opcode == nil, true)
	equal(t, "state init", bytes.Equal(masterchain.InitState, tx.OutMsgs[3].InitState), true)
	equal(t, "external destination", tx.OutMsgs[4].DestinationExternal.Bits, 256)
	equal(t, "external source", tx.InMsg.SourceExternal.Bits, 11)
	equal(t, "import fee", tx.InMsg.ImportFee, 77)
	equal(t, "hash_norm", len(tx.InMsg.HashNorm), 32)
}

func TestKnownGivesWhatBlockGives(t *testing.T) {
	var d Decoder
	bocs := [][]byte{sample().boc(t)}
	if !testing.Short() && realdata.There() {
		for _, f := range blockFiles(t) {
			bocs = append(bocs, f.boc)
		}
	}
	for _, boc := range bocs {
		want, err := Block(boc, 9)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Known(want.Block.Id, boc, 9)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Block.EqualVT(want.Block) || len(got.Transactions) != len(want.Transactions) {
			t.Fatalf("block %s differs", name(want.Block.Id))
		}
		for i, tx := range got.Transactions {
			if !tx.EqualVT(want.Transactions[i]) {
				t.Fatalf("transaction %x differs", tx.Hash)
			}
		}
	}
	info, err := Header(bocs[0])
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Clone(bocs[0])
	other[len(other)/2] ^= 1
	if _, err := d.Known(info.ID, other, 9); !errors.Is(err, cell.ErrHash) {
		t.Errorf("other bytes: %v", err)
	}
	info.ID.Seqno++
	if _, err := d.Known(info.ID, bocs[0], 9); !errors.Is(err, ErrFormat) {
		t.Errorf("another block's hashes: %v", err)
	}
}

func TestResultsDoNotShareMemoryWithTheDecoder(t *testing.T) {
	var d Decoder
	boc := sample().boc(t)
	first, err := d.Block(boc, 1)
	if err != nil {
		t.Fatal(err)
	}
	var before [][]byte
	for _, tx := range first.Transactions {
		b, err := tx.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		before = append(before, b)
	}
	other := sample()
	other.version = 12
	for range 50 {
		if _, err := d.Block(other.boc(t), 2); err != nil {
			t.Fatal(err)
		}
	}
	clear(boc)
	for i, tx := range first.Transactions {
		if b, err := tx.MarshalVT(); err != nil || !bytes.Equal(b, before[i]) {
			t.Fatalf("transaction %d changed, %v", i, err)
		}
	}
}

func TestDecodersWorkInParallel(t *testing.T) {
	boc := sample().boc(t)
	want, err := Block(boc, 1)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 50 {
				got, err := Block(boc, 1)
				if err != nil || !got.Transactions[0].EqualVT(want.Transactions[0]) {
					t.Errorf("another transaction, %v", err)
					return
				}
			}
		})
	}
	group.Wait()
}

func TestBlocksThatContradictThemselvesAreRefused(t *testing.T) {
	swap := func(id byte) []byte { return account(id ^ 1) }
	oneTx := func(tx *tcell.Cell) map[byte]map[uint64]*tcell.Cell {
		return map[byte]map[uint64]*tcell.Cell{0x11: {100: tx}}
	}
	description := descriptions()[0]
	cases := map[string]struct {
		change func(b *builtBlock)
		want   error
	}{
		"account block of another account": {func(b *builtBlock) { b.inBlock = swap }, ErrFormat},
		"transaction of another account": {func(b *builtBlock) {
			b.txs = oneTx(transactionCell(0x12, 100, nil, nil, description))
		}, ErrFormat},
		"transaction of another lt": {func(b *builtBlock) {
			b.txs = oneTx(transactionCell(0x11, 101, nil, nil, description))
		}, ErrFormat},
		"amount over 64 bits": {func(b *builtBlock) {
			b.txs = oneTx(transactionCell(0x11, 100, internal(1, "18446744073709551616", plain, bodyInline), nil, description))
		}, cell.ErrAmount},
		"account outside of the shard": {func(b *builtBlock) { b.shardBits, b.shard = 1, 1<<63 }, ErrFormat},
		"shard prefix too long":        {func(b *builtBlock) { b.shardBits, b.shard = 1, 1<<62 }, ErrFormat},
		"shard longer than 60":         {func(b *builtBlock) { b.shardBits = 61 }, ErrFormat},
		"unknown shard tag":            {func(b *builtBlock) { b.shardBits = 0x40 }, ErrFormat},
		"split of the whole workchain": {func(b *builtBlock) { b.flags |= 0x10 }, ErrFormat},
		"merge with one block":         {func(b *builtBlock) { b.flags |= 0x40 }, ErrFormat},
		"unknown description": {func(b *builtBlock) {
			b.txs = oneTx(transactionCell(0x11, 100, nil, nil, join(tag(0b1111, 4))))
		}, cell.ErrFormat},
		"description too short": {func(b *builtBlock) {
			b.txs = oneTx(transactionCell(0x11, 100, nil, nil, join(tag(0, 4))))
		}, cell.ErrUnderflow},
		"unknown skip reason": {func(b *builtBlock) {
			b.txs = oneTx(transactionCell(0x11, 100, nil, nil, join(tag(0, 4), bit(false), bit(false), bit(false), skippedPhase(0b111, 3), tag(0, 4))))
		}, cell.ErrFormat},
		"message too short": {func(b *builtBlock) {
			b.txs = oneTx(transactionCell(0x11, 100, begin().MustStoreUInt(0, 4).EndCell(), nil, description))
		}, cell.ErrUnderflow},
		"message without its body": {func(b *builtBlock) {
			b.txs = oneTx(transactionCell(0x11, 100, internal(1, "1", plain, tag(1, 2)), nil, description))
		}, cell.ErrUnderflow},
		"masterchain extra in a shard block": {func(b *builtBlock) { b.custom = begin().EndCell() }, ErrFormat},
		"no account blocks":                  {func(b *builtBlock) { b.accounts = func(*tcell.Cell) *tcell.Cell { return begin().EndCell() } }, cell.ErrUnderflow},
	}
	for name, c := range cases {
		b := sample()
		c.change(b)
		if _, err := Block(b.boc(t), 1); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

// TestSharedSubtreesDoNotMakeABlockEndless gives dictionaries whose two branches
// are one cell all the way down: few cells, 2^256 or 2^15 leaves.
func TestSharedSubtreesDoNotMakeABlockEndless(t *testing.T) {
	node := begin().MustStoreUInt(0, 2).MustStoreUInt(0, 5).EndCell()
	for range 255 {
		node = begin().MustStoreUInt(0, 2).MustStoreRef(node).MustStoreRef(node).MustStoreUInt(0, 5).EndCell()
	}
	b := sample()
	b.accounts = func(*tcell.Cell) *tcell.Cell {
		return begin().MustStoreBoolBit(true).MustStoreRef(node).MustStoreUInt(0, 5).EndCell()
	}
	if _, err := Block(b.boc(t), 1); err == nil {
		t.Error("account blocks: no error")
	}
	extra := begin().MustStoreUInt(0, 2).MustStoreVarUInt(5, 32).EndCell()
	for range 32 {
		extra = begin().MustStoreUInt(0, 2).MustStoreRef(extra).MustStoreRef(extra).EndCell()
	}
	message := addr(addr(begin().MustStoreUInt(0b0110, 4), 1), 2).MustStoreCoins(1).MustStoreMaybeRef(extra).
		MustStoreCoins(0).MustStoreCoins(0).MustStoreUInt(1, 64).MustStoreUInt(1, 32).MustStoreUInt(0, 2).EndCell()
	b = sample()
	b.txs = map[byte]map[uint64]*tcell.Cell{0x11: {100: transactionCell(0x11, 100, message, nil, descriptions()[0])}}
	if _, err := Block(b.boc(t), 1); !errors.Is(err, cell.ErrLimit) {
		t.Errorf("extra currencies: %v", err)
	}
}
