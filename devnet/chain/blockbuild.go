package chain

import (
	"bytes"
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

func (v valueFlow) toCell() (*cell.Cell, error) {
	first, second := cell.BeginCell(), cell.BeginCell()
	b := cell.BeginCell().MustStoreUInt(0xb8e48dfb, 32)
	for _, part := range []struct {
		to      *cell.Builder
		amounts []*big.Int
	}{
		{first, []*big.Int{v.fromPrev, v.toNext, v.imported, v.exported}},
		{b, []*big.Int{v.collected}},
		{second, []*big.Int{v.feesImported, v.recovered, v.created, v.minted}},
	} {
		for _, amount := range part.amounts {
			if err := storeCurrency(part.to, amount); err != nil {
				return nil, fmt.Errorf("value flow: %w", err)
			}
		}
	}
	return b.MustStoreRef(first.EndCell()).MustStoreRef(second.EndCell()).EndCell(), nil
}

// settle puts accounts and queue into the new state and gives what a block has
// besides its header: descriptors, account blocks, flow of value.
func (c *collation) settle(flow *valueFlow) (*contents, error) {
	var err error
	if c.state.accounts, err = c.settledAccounts(); err != nil {
		return nil, fmt.Errorf("accounts: %w", err)
	}
	if c.state.queue, err = c.settledQueue(); err != nil {
		return nil, fmt.Errorf("out message queue: %w", err)
	}
	x := &contents{
		in:       augmented{bits: 256, aug: tlb.AugInMsgDescr{}},
		out:      augmented{bits: 256, aug: tlb.AugOutMsgDescr{}},
		accounts: augmented{bits: 256, aug: tlb.AugShardAccountBlocks{}},
	}
	if x.in, err = x.in.update(c.in); err != nil {
		return nil, fmt.Errorf("in message descriptors: %w", err)
	}
	if x.out, err = x.out.update(c.out); err != nil {
		return nil, fmt.Errorf("out message descriptors: %w", err)
	}
	var blocks []change
	for _, l := range c.inOrderOfID() {
		b, err := l.accountBlock()
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, change{bytes.Clone(l.id[:]), b})
	}
	if x.accounts, err = x.accounts.update(blocks); err != nil {
		return nil, fmt.Errorf("account blocks: %w", err)
	}
	return x, c.settleFlow(x, flow)
}

func (c *collation) settledAccounts() (augmented, error) {
	var changes []change
	for _, l := range c.inOrderOfID() {
		switch {
		case l.exists():
			changes = append(changes, change{bytes.Clone(l.id[:]), l.account.ShardAccountCell().ToBuilder()})
		case l.existed:
			changes = append(changes, change{bytes.Clone(l.id[:]), nil})
		}
	}
	return c.state.accounts.update(changes)
}

func (c *collation) settledQueue() (augmented, error) {
	changes := make([]change, 0, len(c.queue))
	for key, value := range c.queue {
		changes = append(changes, change{bytes.Clone(key[:]), value})
	}
	return c.state.queue.update(changes)
}

func (c *collation) settleFlow(x *contents, flow *valueFlow) error {
	in, err := x.in.extra()
	if err != nil {
		return err
	}
	s := in.ToSlice()
	importFees, err := s.LoadBigCoins()
	if err != nil {
		return err
	}
	if flow.imported, err = loadCurrency(s); err != nil {
		return err
	}
	for _, part := range []struct {
		of augmented
		to **big.Int
	}{{x.out, &flow.exported}, {x.accounts, &flow.collected}} {
		extra, err := part.of.extra()
		if err != nil {
			return err
		}
		if *part.to, err = loadCurrency(extra.ToSlice()); err != nil {
			return err
		}
	}
	flow.fromPrev = c.fromPrev
	flow.collected = sum(flow.collected, importFees, flow.feesImported, flow.created)
	if flow.toNext, err = c.state.accountsBalance(); err != nil {
		return err
	}
	in1 := sum(flow.fromPrev, flow.imported, flow.feesImported, flow.recovered, flow.created, flow.minted)
	if out := sum(flow.toNext, flow.exported, flow.collected); in1.Cmp(out) != 0 {
		return fmt.Errorf("value flow: %s comes in, %s goes out", in1, out)
	}
	return nil
}

// contents is BlockExtra without what only masterchain blocks have.
type contents struct{ in, out, accounts augmented }

func (x *contents) toCell(seed, createdBy []byte, custom *cell.Cell) (*cell.Cell, error) {
	b := cell.BeginCell().MustStoreUInt(0x4a33f6fd, 32)
	for _, d := range []augmented{x.in, x.out, x.accounts} {
		part, err := d.toCell()
		if err != nil {
			return nil, err
		}
		b.MustStoreRef(part)
	}
	b.MustStoreSlice(seed, 256).MustStoreSlice(createdBy, 256)
	if err := b.StoreMaybeRef(custom); err != nil {
		return nil, err
	}
	return b.EndCell(), nil
}

// finish completes the state and makes the block.
func (c *collation) finish(h header, x *contents, flow *valueFlow, custom *cell.Cell) (*Block, error) {
	st := c.state
	st.shard, st.seqno, st.genUtime, st.genLT, st.beforeSplit = c.shard, c.seqno, c.now, c.maxLT, h.beforeSplit
	st.masterRef = h.master
	st.balance = flow.toNext
	st.validatorFees = sum(st.validatorFees, flow.collected, new(big.Int).Neg(flow.recovered))
	if err := st.seal(); err != nil {
		return nil, err
	}
	changed, err := compare(c.oldRoot, st.root)
	if err != nil {
		return nil, fmt.Errorf("state update: %w", err)
	}
	update, err := changed.update(c.oldRoot, st.root)
	if err != nil {
		return nil, fmt.Errorf("state update: %w", err)
	}
	info, err := c.headerCell(h)
	if err != nil {
		return nil, fmt.Errorf("block info: %w", err)
	}
	flowCell, err := flow.toCell()
	if err != nil {
		return nil, err
	}
	extra, err := x.toCell(c.seed, c.chain.publicKey(), custom)
	if err != nil {
		return nil, fmt.Errorf("block extra: %w", err)
	}
	root := cell.BeginCell().MustStoreUInt(0x11ef55aa, 32).MustStoreInt(int64(c.settings.globalID), 32).
		MustStoreRef(info).MustStoreRef(flowCell).MustStoreRef(update).MustStoreRef(extra).EndCell()
	slices.SortFunc(c.transactions, func(a, b Transaction) int {
		if a.LT != b.LT {
			if a.LT < b.LT {
				return -1
			}
			return 1
		}
		return bytes.Compare(a.Account[:], b.Account[:])
	})
	bare, err := changed.bare(st.root)
	if err != nil {
		return nil, fmt.Errorf("new state: %w", err)
	}
	if c.state, err = parseState(bare); err != nil {
		return nil, err
	}
	block := &Block{
		Root: root, State: bare, GenUtime: c.now, StartLT: c.startLT, EndLT: c.maxLT, Transactions: c.transactions,
	}
	block.ID, block.Data = identify(c.shard, c.seqno, root)
	return block, nil
}

func (c *collation) headerCell(h header) (*cell.Cell, error) {
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
	return b.ToCell()
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
