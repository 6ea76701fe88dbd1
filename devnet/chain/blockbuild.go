package chain

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"math/big"
	"slices"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// header is what a BlockInfo (block.tlb) says that collation does not know.
type header struct {
	afterMerge, afterSplit, beforeSplit bool
	wantSplit, wantMerge                bool
	key                                 bool
	validatorHash, catchain             uint32
	prevKey                             uint32
	master                              *tlb.ExtBlkRef // nil in the masterchain
}

// valueFlow is ValueFlow (block.tlb).
type valueFlow struct {
	fromPrev, toNext, imported, exported     *big.Int
	collected                                *big.Int // fees_collected
	feesImported, recovered, created, minted *big.Int
}

func (v valueFlow) toCell() *cell.Cell {
	first := storeCurrency(cell.BeginCell(), v.fromPrev, v.toNext, v.imported, v.exported).EndCell()
	second := storeCurrency(cell.BeginCell(), v.feesImported, v.recovered, v.created, v.minted).EndCell()
	return storeCurrency(cell.BeginCell().MustStoreUInt(0xb8e48dfb, 32), v.collected).MustStoreRef(first).MustStoreRef(second).EndCell()
}

// apply puts accounts and queue into the new state and gives what a block has
// besides its header: descriptors, account blocks, flow of value.
func (c *collation) apply(flow *valueFlow) (*contents, error) {
	var accounts, blocks []change
	for _, a := range c.inOrderOfID() {
		switch {
		case a.exists():
			accounts = append(accounts, change{bytes.Clone(a.id[:]), a.account.ShardAccountCell().ToBuilder()})
		case a.existed:
			accounts = append(accounts, change{bytes.Clone(a.id[:]), nil})
		}
		b, err := a.accountBlock()
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, change{bytes.Clone(a.id[:]), b})
	}
	queue := make([]change, 0, len(c.queue))
	for key, value := range c.queue {
		queue = append(queue, change{bytes.Clone(key[:]), value})
	}
	x := &contents{}
	for _, part := range []struct {
		name    string
		to      *augmented
		from    augmented
		changes []change
	}{
		{"accounts", &c.state.accounts, c.state.accounts, accounts},
		{"out message queue", &c.state.queue, c.state.queue, queue},
		{"in message descriptors", &x.in, augmented{bits: 256, aug: inMessages{}}, c.in},
		{"out message descriptors", &x.out, augmented{bits: 256, aug: outMessages{}}, c.out},
		{"account blocks", &x.accounts, augmented{bits: 256, aug: tlb.AugShardAccountBlocks{}}, blocks},
	} {
		var err error
		if *part.to, err = part.from.update(part.changes); err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return x, c.balanceFlow(x, flow)
}

func (c *collation) balanceFlow(x *contents, flow *valueFlow) error {
	in := x.in.extra().ToSlice()
	importFees := in.MustLoadBigCoins()
	flow.imported, flow.exported = loadCurrency(in), loadCurrency(x.out.extra().ToSlice())
	flow.fromPrev, flow.toNext = c.fromPrev, c.state.accountsBalance()
	flow.collected = sum(loadCurrency(x.accounts.extra().ToSlice()), importFees, flow.feesImported, flow.created)
	in1 := sum(flow.fromPrev, flow.imported, flow.feesImported, flow.recovered, flow.created, flow.minted)
	if out := sum(flow.toNext, flow.exported, flow.collected); in1.Cmp(out) != 0 {
		return fmt.Errorf("value flow: %s comes in, %s goes out", in1, out)
	}
	return nil
}

// contents is BlockExtra without what only masterchain blocks have.
type contents struct{ in, out, accounts augmented }

func (x *contents) toCell(seed, createdBy []byte, custom *cell.Cell) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(0x4a33f6fd, 32).
		MustStoreRef(x.in.toCell()).MustStoreRef(x.out.toCell()).MustStoreRef(x.accounts.toCell()).
		MustStoreSlice(seed, 256).MustStoreSlice(createdBy, 256).MustStoreMaybeRef(custom).EndCell()
}

// finish completes the state and makes the block.
func (c *collation) finish(h header, x *contents, flow *valueFlow, custom *cell.Cell) (*Block, error) {
	st := c.state
	st.shard, st.seqno, st.genUtime, st.genLT, st.beforeSplit = c.shard, c.seqno, c.now, c.maxLT, h.beforeSplit
	st.masterRef = h.master
	st.balance = flow.toNext
	st.validatorFees = sum(st.validatorFees, flow.collected, new(big.Int).Neg(flow.recovered))
	st.seal()
	changed := compare(c.oldRoot, st.root)
	root := cell.BeginCell().MustStoreUInt(0x11ef55aa, 32).MustStoreInt(int64(c.settings.globalID), 32).
		MustStoreRef(c.headerCell(h)).MustStoreRef(flow.toCell()).MustStoreRef(changed.update(c.oldRoot, st.root)).
		MustStoreRef(x.toCell(c.seed, c.chain.publicKey(), custom)).EndCell()
	slices.SortFunc(c.transactions, func(a, b Transaction) int {
		return cmp.Or(cmp.Compare(a.LT, b.LT), bytes.Compare(a.Account[:], b.Account[:]))
	})
	bare := changed.bare(st.root)
	var err error
	if c.state, err = parseState(bare); err != nil {
		return nil, err
	}
	block := &Block{
		Root: root, State: bare, GenUtime: c.now, StartLT: c.startLT, EndLT: c.maxLT, Transactions: c.transactions,
	}
	block.ID, block.Data = identify(c.shard, c.seqno, root)
	return block, nil
}

func (c *collation) headerCell(h header) *cell.Cell {
	var b tlb.BlockHeader
	b.NotMaster, b.AfterMerge, b.BeforeSplit, b.AfterSplit = h.master != nil, h.afterMerge, h.beforeSplit, h.afterSplit
	b.WantSplit, b.WantMerge, b.KeyBlock, b.Flags = h.wantSplit, h.wantMerge, h.key, 1
	b.SeqNo = c.seqno
	b.Shard = tlb.ShardIdent{PrefixBits: int8(c.shard.depth()), WorkchainID: c.shard.workchain, ShardPrefix: c.shard.prefix()}
	b.GenUtime, b.StartLt, b.EndLt = c.now, c.startLT, c.maxLT
	b.GenValidatorListHashShort, b.GenCatchainSeqno = h.validatorHash, h.catchain
	b.MinRefMcSeqno, b.PrevKeyBlockSeqno = c.state.minRef, h.prevKey
	b.GenSoftware, b.MasterRef = &c.settings.version, h.master
	b.PrevRef.Prev1 = c.prev[0].ref()
	if h.afterMerge {
		second := c.prev[1].ref()
		b.PrevRef.Prev2 = &second
	}
	return sure(b.ToCell())
}

// ref names a block in the way of ExtBlkRef.
func (b *Block) ref() tlb.ExtBlkRef {
	return tlb.ExtBlkRef{EndLt: b.EndLT, SeqNo: b.ID.SeqNo, RootHash: b.ID.RootHash, FileHash: b.ID.FileHash}
}

// serialization is what nodes write block files with.
var serialization = cell.BOCSerializeOptions{WithIndex: true, WithCRC32C: true, WithIntHashes: true, WithCacheBits: true}

func identify(shard shardID, seqno uint32, root *cell.Cell) (*ton.BlockIDExt, []byte) {
	data := root.ToBOCWithOptions(serialization)
	file := sha256.Sum256(data)
	return &ton.BlockIDExt{
		Workchain: shard.workchain, Shard: int64(shard.shard), SeqNo: seqno, RootHash: root.Hash(), FileHash: file[:],
	}, data
}

func shardOf(b *Block) shardID { return shardID{b.ID.Workchain, uint64(b.ID.Shard)} }
