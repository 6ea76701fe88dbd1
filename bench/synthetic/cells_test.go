package synthetic

import (
	"bytes"
	"math/big"
	"sort"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

func intKey(i int64) *big.Int { return big.NewInt(i) }

// listedTransaction is a transaction with the cells of its messages as they are:
// tlb.Message does not give every message back bit by bit.
type listedTransaction struct {
	tlb.Transaction
	in  *cell.Cell
	out []*cell.Cell
}

// listTransactions reads the transactions of a block in the order of logical time.
func listTransactions(t *testing.T, b *tlb.Block) []listedTransaction {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var list []listedTransaction
	blocks := b.Extra.ShardAccountBlocks.MustBeginParse()
	if !blocks.MustLoadBoolBit() {
		return nil
	}
	root, err := blocks.LoadRefCell()
	must(err)
	accounts, err := root.AsDict(256).LoadAll()
	must(err)
	for _, account := range accounts {
		must(skipFees(account.Value))
		var block tlb.AccountBlock
		must(tlb.LoadFromCell(&block, account.Value))
		if key := account.Key.Copy().MustLoadSlice(256); !bytes.Equal(key, block.Addr) {
			t.Fatalf("account %x under the key %x", block.Addr, key)
		}
		transactions, err := block.Transactions.AsCell().AsDict(64).LoadAll()
		must(err)
		for _, transaction := range transactions {
			must(skipFees(transaction.Value))
			c, err := transaction.Value.LoadRefCell()
			must(err)
			var tx listedTransaction
			must(tlb.Parse(&tx.Transaction, c))
			tx.Hash = c.Hash()
			io, err := c.MustPeekRef(0).BeginParse()
			must(err)
			if io.MustLoadBoolBit() {
				tx.in, err = io.LoadRefCell()
				must(err)
			}
			if io.MustLoadBoolBit() {
				out, err := io.LoadRefCell()
				must(err)
				values, err := out.AsDict(15).LoadAll()
				must(err)
				for _, v := range values {
					m, err := v.Value.LoadRefCell()
					must(err)
					tx.out = append(tx.out, m)
				}
			}
			if lt := transaction.Key.Copy().MustLoadUInt(64); lt != tx.LT {
				t.Fatalf("transaction %d under the key %d", tx.LT, lt)
			}
			list = append(list, tx)
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].LT < list[j].LT })
	return list
}

func skipFees(s *cell.Slice) error {
	var fees tlb.CurrencyCollection
	return tlb.LoadFromCell(&fees, s)
}

// shardDescr reads shard_descr#b (2019) or #a.
func shardDescr(t *testing.T, s *cell.Slice) tlb.ExtBlkRef {
	t.Helper()
	if tag := s.Copy().MustLoadUInt(4); tag == 0xb {
		var b tlb.ShardDescB
		if err := tlb.LoadFromCell(&b, s); err != nil {
			t.Fatal(err)
		}
		return tlb.ExtBlkRef{EndLt: b.EndLT, SeqNo: b.SeqNo, RootHash: b.RootHash, FileHash: b.FileHash}
	}
	var a tlb.ShardDesc
	if err := tlb.LoadFromCell(&a, s); err != nil {
		t.Fatal(err)
	}
	return tlb.ExtBlkRef{EndLt: a.EndLT, SeqNo: a.SeqNo, RootHash: a.RootHash, FileHash: a.FileHash}
}
