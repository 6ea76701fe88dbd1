package chain

import (
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// masterCollation is a masterchain block being made.
type masterCollation struct {
	collation
	before  *masterExtra
	extra   *masterExtra
	heads   []*shardHead
	fees    augmented // ShardFees
	flow    valueFlow
	recover *cell.Cell // recover_create_msg, an InMsg
	head    *shardHead
}

// collateMaster makes the next masterchain block.
func (c *Chain) collateMaster(now uint32, heads []*shardHead, pending []*external, taken map[*external]bool) (*masterCollation, error) {
	k, err := c.beginMaster(now, heads)
	if err != nil {
		return nil, err
	}
	k.taken = taken
	for _, step := range []func() error{
		k.register,
		k.dequeue,
		func() error { return k.tickTock(false, k.ordinary()) },
		k.recoverFees,
		k.importInternal,
		func() error { return k.importExternals(pending) },
		func() error { return k.processFresh(!k.drained) },
		func() error { return k.tickTock(true, k.maxLT) },
		func() error { return k.processFresh(true) },
		k.readConfig,
		k.seal,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func (c *Chain) beginMaster(now uint32, heads []*shardHead) (*masterCollation, error) {
	prev := c.master
	st, extra := *prev.state, *c.extra
	k := &masterCollation{
		collation: collation{
			chain: c, shard: masterShard, settings: c.settings, refSeqno: prev.block.ID.SeqNo + 1,
			seqno: prev.block.ID.SeqNo + 1, prev: []*Block{prev.block}, state: &st, oldRoot: st.root,
			accounts: map[[32]byte]*blockAccount{}, queue: map[[queueKeyBits / 8]byte]*cell.Builder{},
		},
		before: c.extra, extra: &extra, heads: heads,
		fees: augmented{bits: 96, aug: tlb.AugShardFees{}},
	}
	k.now = max(now, prev.state.genUtime)
	start := prev.state.genLT
	k.neighbours = []*neighbour{st.neighbour(true)}
	for _, h := range heads {
		start = max(start, h.block.EndLT)
		k.now = max(k.now, h.block.GenUtime)
		k.neighbours = append(k.neighbours, h.state.neighbour(false))
	}
	k.startAfter(start)
	k.endLT = k.endOf
	k.fromPrev = st.accountsBalance()
	return k, k.begin()
}

// endOf also knows the block being made, whose state shows the new shards.
func (k *masterCollation) endOf(seqno uint32, at hop) (uint64, error) {
	if seqno != k.seqno {
		return k.chain.ends.of(seqno, at)
	}
	for _, n := range k.neighbours {
		if n.shard.holds(at.workchain, at.prefix) {
			return n.endLT, nil
		}
	}
	return 0, fmt.Errorf("no shard holds %d:%016x", at.workchain, at.prefix)
}

// register makes the new shard blocks known and counts what they bring.
func (k *masterCollation) register() error {
	created, imported := new(big.Int), new(big.Int)
	var shards []*shardDescr
	var fees []change
	for _, h := range k.heads {
		if len(h.blocks) == 0 { // the zerostate
			shards = append(shards, &shardDescr{
				shard: shardOf(h.block), registered: k.seqno, rootHash: h.block.ID.RootHash, fileHash: h.block.ID.FileHash,
				nextCatchain: 1, minRef: noReference, fees: new(big.Int), created: new(big.Int),
			})
			continue
		}
		shards = append(shards, k.descr(h))
		s := shardOf(h.block)
		key := cell.BeginCell().MustStoreInt(int64(s.workchain), 32).MustStoreUInt(s.shard, 64).ToSlice().MustLoadSlice(96)
		fees = append(fees, change{key, storeCurrency(cell.BeginCell(), h.collected, h.created)})
		created, imported = sum(created, h.created), sum(imported, h.collected)
	}
	var err error
	if k.fees, err = k.fees.update(fees); err != nil {
		return fmt.Errorf("shard fees: %w", err)
	}
	k.extra.shards = shards
	k.planShards()
	k.flow = valueFlow{
		feesImported: imported, created: k.settings.masterCreated, minted: new(big.Int),
		recovered: sum(k.settings.masterCreated, imported, k.state.validatorFees),
	}
	k.extra.globalBalance = sum(k.extra.globalBalance, created, k.settings.masterCreated)
	return nil
}

// descr is what the masterchain keeps of a shard's newest block.
func (k *masterCollation) descr(h *shardHead) *shardDescr {
	b := h.block
	d := &shardDescr{
		shard: shardOf(b), seqno: b.ID.SeqNo, registered: k.seqno, startLT: b.StartLT, endLT: b.EndLT,
		rootHash: b.ID.RootHash, fileHash: b.ID.FileHash, beforeSplit: h.header.beforeSplit,
		wantSplit: h.header.wantSplit, wantMerge: h.header.wantMerge, nextCatchain: h.header.catchain,
		minRef: h.state.minRef, genUtime: b.GenUtime, fees: h.collected, created: h.created,
	}
	if h.header.afterSplit || h.header.afterMerge {
		d.nextCatchain++
		return d
	}
	for _, o := range k.before.shards {
		if o.shard == d.shard {
			d.plan = o.plan
			if k.now/k.settings.shardLifetime > k.chain.master.state.genUtime/k.settings.shardLifetime {
				d.nextCatchain, d.updated = o.nextCatchain+1, true
			}
		}
	}
	return d
}

// planShards announces splits and merges, and lets merges begin.
func (k *masterCollation) planShards() {
	delay := k.chain.options.SplitDelay
	if delay == 0 {
		delay = 2
	}
	// Where blocks are far apart, some of them must fall into the interval.
	gap := k.now - k.chain.master.state.genUtime
	next := plan{since: k.now + delay, interval: max(planInterval, 4*gap)}
	byShard := map[shardID]*shardDescr{}
	for _, d := range k.extra.shards {
		byShard[d.shard] = d
	}
	for _, d := range k.extra.shards {
		sibling := byShard[d.shard.sibling()]
		if d.shard.depth() == 0 {
			sibling = nil
		}
		if p := d.plan; p.kind != planNone && (k.now >= p.since+p.interval || d.beforeSplit) ||
			p.kind == planMerge && (sibling == nil || sibling.beforeSplit) {
			d.plan = plan{}
		}
		if !d.beforeSplit {
			k.planShard(d, sibling, next)
		}
	}
}

func (k *masterCollation) planShard(d, sibling *shardDescr, next plan) {
	depth := d.shard.depth()
	merges := depth > k.settings.minSplit && sibling != nil && !sibling.beforeSplit
	switch {
	case d.plan.kind == planNone && (d.wantSplit || depth < k.settings.minSplit) && depth < k.settings.maxSplit:
		d.plan = next
		d.plan.kind = planSplit
	case d.plan.kind == planNone && merges && d.wantMerge && sibling.wantMerge && sibling.plan.kind != planSplit:
		d.plan = next
		d.plan.kind = planMerge
	case d.plan.kind == planMerge && merges && sibling.plan.kind == planMerge && d.wantMerge && sibling.wantMerge &&
		k.now >= d.plan.since && k.now >= sibling.plan.since:
		d.beforeMerge = true
	}
}

func (k *masterCollation) tickTock(tock bool, lt uint64) error {
	for _, id := range k.settings.special {
		if err := k.runTickTock(id, tock, lt); err != nil {
			return err
		}
	}
	return nil
}

// recoverFees hands all fees, and what the masterchain block creates, to the
// fee collector: by a message out of nowhere.
func (k *masterCollation) recoverFees() error {
	var nowhere [32]byte
	to := k.settings.feeCollector
	m := &tlb.InternalMessage{
		IHRDisabled: true, Bounce: true,
		SrcAddr: address.NewAddress(0, 0xff, nowhere[:]), DstAddr: address.NewAddress(0, 0xff, to[:]),
		Amount: tlb.FromNanoTON(k.flow.recovered), CreatedLT: k.startLT, CreatedAt: k.now, Body: cell.BeginCell().EndCell(),
	}
	message := sure(tlb.ToCell(m))
	prepared, err := tvm.PrepareMessage(message)
	if err != nil {
		return fmt.Errorf("message to the fee collector: %w", err)
	}
	result, err := k.run(to, prepared, k.ordinary())
	if err != nil {
		return fmt.Errorf("fee collector: %w", err)
	}
	envelope := envelopeOf(message, 96, 96, tlb.ZeroCoins)
	in := cell.BeginCell().MustStoreUInt(importImm, 3).MustStoreRef(envelope).MustStoreRef(result.TransactionCell).MustStoreCoins(0)
	k.addIn(message.Hash(), in)
	k.recover = in.EndCell()
	return nil
}

// readConfig takes a new config over from the config contract: it keeps it in
// the first reference of its data.
func (k *masterCollation) readConfig() error {
	a := k.accounts[k.settings.configAddr]
	if a == nil || !a.exists() {
		return nil
	}
	init := a.account.State().StateInit
	if init == nil || init.Data == nil || init.Data.RefsNum() == 0 {
		return nil
	}
	config := init.Data.MustPeekRef(0)
	if config.HashKey() == k.extra.config.HashKey() {
		return nil
	}
	if _, err := readSettings(config, k.chain.options); err == nil {
		k.extra.config = config
	}
	return nil // a config that cannot be read is not taken over
}

func (k *masterCollation) seal() error {
	x, err := k.apply(&k.flow)
	if err != nil {
		return err
	}
	k.applyLibraries()
	k.processedNow(k.chain.master.state.genLT)
	k.state.minRef = min(k.seqno, k.state.processed.oldest())
	for _, d := range k.extra.shards {
		k.state.minRef = min(k.state.minRef, d.minRef)
	}
	key := k.seqno == 1 || k.extra.config.HashKey() != k.before.config.HashKey()
	h := header{
		key: key, validatorHash: k.before.validatorHash, catchain: k.before.catchain, prevKey: k.chain.lastKeySeqno(),
	}
	if err := k.nextExtra(key); err != nil {
		return err
	}
	k.state.custom = k.extra.toCell()
	k.state.overload <<= 1
	k.state.underload = k.state.underload<<1 | 1
	block, err := k.finish(h, x, &k.flow, k.blockExtra(key))
	k.head = &shardHead{block: block, state: k.state, header: h}
	return err
}

// nextExtra is the masterchain's part of the state after this block.
func (k *masterCollation) nextExtra(key bool) error {
	x := k.extra
	prev := k.chain.master
	x.configAddr = k.settings.configAddr
	x.remember(prev.block.ref(), k.before.afterKey)
	if k.before.afterKey {
		ref := prev.block.ref()
		x.lastKey = &ref
	}
	x.afterKey = key
	x.updated = key || k.now/k.settings.masterLifetime > prev.state.genUtime/k.settings.masterLifetime
	if x.updated {
		x.catchain++
	}
	next := k.settings
	if x.config.HashKey() != next.root.HashKey() {
		var err error
		if next, err = readSettings(x.config, k.chain.options); err != nil {
			return err
		}
		x.configAddr = next.configAddr
	}
	x.validatorHash = next.validatorHash(x.catchain)
	var shardBlocks uint32
	for _, h := range k.heads {
		shardBlocks += uint32(len(h.blocks))
	}
	x.creators = countCreators(x.creators, k.chain.publicKey(), shardBlocks, k.now)
	return nil
}

// blockExtra is McBlockExtra (block.tlb).
func (k *masterCollation) blockExtra(key bool) *cell.Cell {
	b := cell.BeginCell().MustStoreUInt(0xcca5, 16).MustStoreBoolBit(key).MustStoreDict(shardTree(k.extra.shards))
	k.fees.store(b)
	// no prev_blk_signatures, a recover_create_msg, no mint_msg
	b.MustStoreRef(cell.BeginCell().MustStoreBoolBit(false).MustStoreMaybeRef(k.recover).MustStoreBoolBit(false).EndCell())
	if key {
		b.MustStoreSlice(k.extra.configAddr[:], 256).MustStoreRef(k.extra.config)
	}
	return b.EndCell()
}
