package synthetic

import (
	"bytes"
	"crypto/sha256"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/code"
)

// digest is a hash of everything that a generator publishes to one of two partitions.
func digest(t *testing.T, seed uint64) (sum [32]byte, keys *Keys) {
	t.Helper()
	h, rows := sha256.New(), NewRows(RowOptions{Transactions: 3000, Seed: seed})
	for b := rows.Next(); b != nil; b = rows.Next() {
		headers, transactions, accounts := b.Records(1, 2)
		for _, r := range slices.Concat(headers, transactions, accounts) {
			bytes, err := r.MarshalVT()
			if err != nil {
				t.Fatal(err)
			}
			h.Write(bytes)
		}
	}
	return [32]byte(h.Sum(nil)), rows.Keys()
}

func TestRowsAreTheSameForTheSameSeed(t *testing.T) {
	first, keys := digest(t, 1)
	second, sameKeys := digest(t, 1)
	other, _ := digest(t, 2)
	if first != second || !reflect.DeepEqual(keys, sameKeys) {
		t.Error("the same seed gives other rows")
	}
	if first == other {
		t.Error("the seed does not matter")
	}
}

func TestRowsHaveTheProportionsOfTheMainNetwork(t *testing.T) {
	const n = 100_000
	rows := NewRows(RowOptions{Transactions: n, Seed: 1})
	bundles, transactions, messages, roots, logs, aborted, bounced := 0, 0, 0, 0, 0, 0, 0
	popular := 0
	first := rows.accounts.address(0)
	for b := rows.Next(); b != nil; b = rows.Next() {
		bundles++
		for _, tx := range b.Transactions {
			transactions++
			messages += 1 + len(tx.OutMsgs)
			if tx.InMsg.Kind == record.Message_EXTERNAL_IN {
				roots++
			}
			if tx.Aborted {
				aborted++
			}
			if tx.InMsg.Bounced {
				bounced++
			}
			if bytes.Equal(tx.Account, first) {
				popular++
			}
			for _, m := range tx.OutMsgs {
				if m.Kind == record.Message_EXTERNAL_OUT {
					logs++
				}
			}
		}
	}
	if transactions != n {
		t.Fatalf("%d transactions, not %d", transactions, n)
	}
	for _, c := range []struct {
		what      string
		got, want float64
		within    float64
	}{
		{"transactions per bundle", float64(transactions) / float64(bundles), 20, 0.3},
		{"message rows per transaction", float64(messages) / n, 2.37, 0.1},
		{"transactions per trace", n / float64(roots), 4.1, 0.2},
		{"share of the popular account", float64(popular) / n, 0.05, 0.01},
		{"share of aborted transactions", float64(aborted) / n, 0.05, 0.005},
		{"log messages per transaction", float64(logs) / n, 0.6, 0.1},
	} {
		if math.Abs(c.got-c.want) > c.within {
			t.Errorf("%s: %.3f, not %.2f", c.what, c.got, c.want)
		}
		t.Logf("%s: %.3f", c.what, c.got)
	}
	if bounced == 0 {
		t.Error("nothing bounces")
	}
}

func TestRowsAreConsistentAmongThemselves(t *testing.T) {
	rows := NewRows(RowOptions{Transactions: 20_000, Seed: 3})
	lasts := map[string]*record.Transaction{}
	sent := map[string]*record.Message{}
	var parents map[uint64][]byte
	for b := rows.Next(); b != nil; b = rows.Next() {
		checkOrder(t, b)
		blocks := map[uint64][]byte{}
		for _, block := range b.Blocks {
			if before := parents[block.Id.Shard]; before != nil && !bytes.Equal(before, block.PrevBlocks[0].RootHash) {
				t.Fatalf("block %d does not name its parent", block.Id.Seqno)
			}
			blocks[block.Id.Shard] = block.Id.RootHash
		}
		parents = blocks
		checkAccounts(t, b)
		for _, tx := range b.Transactions {
			checkChain(t, tx, lasts[string(tx.Account)])
			lasts[string(tx.Account)] = tx
			checkMessages(t, tx, sent)
		}
	}
	if len(sent) > 200 {
		t.Errorf("%d messages never arrive", len(sent))
	}
}

func checkOrder(t *testing.T, b *Bundle) {
	t.Helper()
	counts := map[uint64]uint32{}
	for i, tx := range b.Transactions {
		first, last := schema.PartitionsOf(tx.Block.Shard, 4)
		if p := schema.PartitionOf(schema.AccountID(tx.Account), 4); p < first || p > last {
			t.Fatal("account of another shard")
		}
		if i > 0 && (b.Transactions[i-1].Lt >= tx.Lt || b.Transactions[i-1].Block.Shard > tx.Block.Shard) {
			t.Fatalf("transactions of bundle %d are out of order", b.Seqno)
		}
		counts[tx.Block.Shard]++
	}
	for _, block := range b.Blocks {
		if block.Id.Workchain == 0 && block.TxCount != counts[block.Id.Shard] {
			t.Fatalf("block with %d transactions says %d", counts[block.Id.Shard], block.TxCount)
		}
	}
}

func checkChain(t *testing.T, tx, before *record.Transaction) {
	t.Helper()
	if before == nil {
		if tx.PrevTransLt != 0 || tx.OrigStatus != record.AccountStatus_ACCOUNT_NONEXIST {
			t.Fatal("first transaction of an account that has one before it")
		}
		return
	}
	if tx.PrevTransLt != before.Lt || !bytes.Equal(tx.PrevTransHash, before.Hash) || !bytes.Equal(tx.StateHashBefore, before.StateHashAfter) {
		t.Fatalf("transaction %d does not follow %d", tx.Lt, before.Lt)
	}
}

// checkAccounts compares accounts with the transactions that they follow from.
func checkAccounts(t *testing.T, b *Bundle) {
	t.Helper()
	lasts := map[string]*record.Transaction{}
	for _, tx := range b.Transactions {
		if last := lasts[string(tx.Account)]; last != nil && !last.StateAfter.EqualVT(tx.StateBefore) {
			t.Fatalf("transaction %d begins with another state than the one before it left", tx.Lt)
		}
		lasts[string(tx.Account)] = tx
	}
	if len(lasts) != len(b.Accounts) {
		t.Fatalf("%d accounts, the transactions are of %d", len(b.Accounts), len(lasts))
	}
	for _, a := range b.Accounts {
		last := lasts[string(a.Account)]
		if last == nil || a.LastTransLt != last.Lt || !bytes.Equal(a.Hash, last.StateHashAfter) || !a.State.EqualVT(last.StateAfter) {
			t.Fatalf("account %x does not follow from its last transaction", a.Account)
		}
		if root, err := cell.FromBOC(a.Data); err != nil || !bytes.Equal(root.Hash(), a.State.DataHash) {
			t.Fatalf("account %x: data with another hash, %v", a.Account, err)
		}
	}
}

func checkMessages(t *testing.T, tx *record.Transaction, sent map[string]*record.Message) {
	t.Helper()
	if !bytes.Equal(tx.InMsg.Destination, tx.Account) {
		t.Fatal("message to another account")
	}
	if hash := string(tx.InMsg.Hash); tx.InMsg.Kind == record.Message_INTERNAL {
		if produced := sent[hash]; produced == nil || !produced.EqualVT(tx.InMsg) || tx.Lt <= produced.CreatedLt {
			t.Fatal("message that nobody sent before")
		}
		delete(sent, hash)
	}
	for _, m := range tx.OutMsgs {
		if !bytes.Equal(m.Source, tx.Account) || m.CreatedLt <= tx.Lt {
			t.Fatal("message from nowhere")
		}
		if m.Kind == record.Message_INTERNAL {
			sent[string(m.Hash)] = m
		}
	}
	root, err := cell.FromBOC(tx.InMsg.Body)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(root.Hash(), tx.InMsg.BodyHash) {
		t.Fatal("body with another hash")
	}
	if slice := root.MustBeginParse(); root.BitsSize() >= 32 != (tx.InMsg.Opcode != nil) || (tx.InMsg.Opcode != nil && uint32(slice.MustLoadUInt(32)) != *tx.InMsg.Opcode) {
		t.Fatal("body with another operation code")
	}
}

func TestMessagesHaveTheHashesOfTheirCells(t *testing.T) {
	rows := NewRows(RowOptions{Transactions: 5000, Seed: 4})
	type layout struct {
		kind   record.Message_Kind
		inline bool
	}
	seen := map[layout]int{}
	hashes := map[string]*record.Message{}
	for b := rows.Next(); b != nil; b = rows.Next() {
		for _, tx := range b.Transactions {
			for _, m := range append([]*record.Message{tx.InMsg}, tx.OutMsgs...) {
				if before := hashes[string(m.Hash)]; before != nil && before != m {
					t.Fatal("two messages of the same hash")
				}
				hashes[string(m.Hash)] = m
				body, err := cell.FromBOC(m.Body)
				if err != nil {
					t.Fatal(err)
				}
				root, inline := messageOf(m, m.ImportFee, body, false)
				seen[layout{m.Kind, inline}]++
				if !bytes.Equal(root.Hash(), m.Hash) {
					t.Fatalf("%s message %x is the cell %x", m.Kind, m.Hash, root.Hash())
				}
				if m.Kind != record.Message_EXTERNAL_IN {
					continue
				}
				if norm, _ := messageOf(m, 0, body, true); !bytes.Equal(norm.Hash(), m.HashNorm) {
					t.Fatalf("message %x has the normalized hash %x instead of %x", m.Hash, m.HashNorm, norm.Hash())
				}
			}
		}
	}
	if len(seen) != 6 {
		t.Errorf("of six layouts there are %v", seen)
	}
}

// messageOf is a message as a cell of tonutils-go, its body in the cell where it
// fits and may be there.
func messageOf(m *record.Message, importFee uint64, body *cell.Cell, reference bool) (root *cell.Cell, inline bool) {
	at := func(raw []byte) *address.Address {
		if len(raw) == 0 {
			return address.NewAddressNone()
		}
		return address.NewAddress(0, 0, schema.AccountID(raw))
	}
	b := cell.BeginCell()
	switch m.Kind {
	case record.Message_INTERNAL:
		b.MustStoreBoolBit(false).MustStoreBoolBit(m.IhrDisabled).MustStoreBoolBit(m.Bounce).MustStoreBoolBit(m.Bounced).
			MustStoreAddr(at(m.Source)).MustStoreAddr(at(m.Destination)).MustStoreCoins(m.Value).MustStoreBoolBit(false).
			MustStoreCoins(0).MustStoreCoins(m.FwdFee).MustStoreUInt(m.CreatedLt, 64).MustStoreUInt(uint64(m.CreatedAt), 32)
	case record.Message_EXTERNAL_IN:
		b.MustStoreUInt(0b10, 2).MustStoreAddr(at(nil)).MustStoreAddr(at(m.Destination)).MustStoreCoins(importFee)
	default:
		b.MustStoreUInt(0b11, 2).MustStoreAddr(at(m.Source)).MustStoreAddr(at(nil)).MustStoreUInt(m.CreatedLt, 64).MustStoreUInt(uint64(m.CreatedAt), 32)
	}
	b.MustStoreBoolBit(false) // StateInit
	if inline = !reference && body.RefsNum() == 0 && b.BitsLeft() > body.BitsSize(); inline {
		return b.MustStoreBoolBit(false).MustStoreBuilder(body.ToBuilder()).EndCell(), true
	}
	return b.MustStoreBoolBit(true).MustStoreRef(body).EndCell(), false
}

func TestRecordsHoldEveryRowOnceAndCountThem(t *testing.T) {
	b := NewRows(RowOptions{Transactions: 100, Seed: 1}).Next()
	blocks, transactions, accounts := 0, 0, 0
	for p := range 4 {
		for _, list := range func() [][]*record.Record { h, x, a := b.Records(p, 4); return [][]*record.Record{h, x, a} }() {
			rows := 0
			for i, r := range list {
				if r.Index != uint32(i) || r.McSeqno != b.Seqno || r.PrevMcSeqno != 0 {
					t.Fatalf("record %d of the first bundle is %d, after %d", i, r.Index, r.PrevMcSeqno)
				}
				rows += len(r.GetBlocks().GetBlocks()) + len(r.GetTransactions().GetTransactions()) + len(r.GetAccounts().GetAccounts())
				accounts += len(r.GetAccounts().GetAccounts())
				blocks += len(r.GetBlocks().GetBlocks())
				transactions += len(r.GetTransactions().GetTransactions())
			}
			if seal := list[len(list)-1].GetSeal(); seal == nil || seal.Rows != uint64(rows) {
				t.Fatalf("%d rows, the seal says %v", rows, seal)
			}
		}
	}
	if blocks != len(b.Blocks) || transactions != len(b.Transactions) || accounts != len(b.Accounts) {
		t.Errorf("%d of %d blocks, %d of %d transactions and %d of %d accounts", blocks, len(b.Blocks), transactions, len(b.Transactions), accounts, len(b.Accounts))
	}
}

func TestKeysAreThoseOfTheRowsAndSurviveTheFile(t *testing.T) {
	rows := NewRows(RowOptions{Transactions: 50_000, Seed: 1})
	for rows.Next() != nil {
	}
	keys := rows.Keys()
	if keys.N != 50_000 || len(keys.Ordinary) != 5000 || len(keys.Tx) != 5000 || len(keys.Msg) != 5000 || len(keys.Owner) != 5000 || len(keys.States) != 1250 {
		t.Errorf("keys are missing: %d %d %d %d %d %d", keys.N, len(keys.Ordinary), len(keys.Tx), len(keys.Msg), len(keys.Owner), len(keys.States))
	}
	path := filepath.Join(t.TempDir(), "keys.json")
	if err := keys.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	read, err := ReadKeys(path)
	if err != nil || !reflect.DeepEqual(read, keys) {
		t.Errorf("read other keys: %v", err)
	}
}

func BenchmarkRows(b *testing.B) {
	rows := NewRows(RowOptions{Transactions: 1_000_000, Seed: 1})
	b.ReportAllocs()
	b.ResetTimer()
	began, bytes := time.Now(), 0
	for range b.N {
		next := rows.Next()
		if next == nil {
			b.Fatal("too short")
		}
		for _, tx := range next.Transactions {
			bytes += tx.SizeVT()
		}
	}
	b.ReportMetric(float64(rows.Made())/time.Since(began).Seconds(), "tx/s")
	b.ReportMetric(float64(bytes)/float64(rows.Made()), "bytes/tx")
}

func TestMadeUpCodesHaveTheirMethods(t *testing.T) {
	for _, c := range newContracts(1).codes() {
		methods, err := decode.MethodsOf(c.Boc)
		if err != nil || methods.Known != c.MethodsKnown || !slices.Equal(methods.IDs, c.Methods) {
			t.Errorf("code %x has methods %v and is said to have %v: %v", c.Hash, methods.IDs, c.Methods, err)
		}
	}
	if want, have := code.MethodID("get_wallet_data"), newContracts(1)[jettonWallets].code.Methods; !slices.Equal(have, []uint32{want}) {
		t.Errorf("a jetton wallet has methods %v instead of %d", have, want)
	}
}
