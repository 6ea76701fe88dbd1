package chain

import (
	"container/heap"
	"fmt"
	"math"
	"math/big"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// collation is a block being made.
type collation struct {
	chain    *Chain
	shard    shardID
	settings *settings
	block    *tvm.BlockContext
	refSeqno uint32 // the masterchain block whose state shows the neighbours

	prev     []*Block   // one, or two after a merge
	oldRoot  *cell.Cell // state before, as the update has it
	state    *state     // changes while the block is made
	fromPrev *big.Int   // what the accounts held before
	seqno    uint32
	now      uint32
	startLT  uint64
	maxLT    uint64
	seed     []byte

	neighbours []*neighbour
	endLT      func(seqno uint32, at hop) (uint64, error)

	accounts     map[[32]byte]*blockAccount
	in, out      []change // InMsgDescr, OutMsgDescr
	queue        map[[queueKeyBits / 8]byte]*cell.Builder
	fresh        freshHeap
	last         processed // lt and hash of the last internal message taken
	drained      bool      // all messages of all neighbours are taken
	load         load
	transactions []Transaction
	refused      []Refused
	taken        map[*external]bool // externals that are done with
}

// neighbour is a shard whose queue may hold messages for the one being made;
// the shard itself is one too.
type neighbour struct {
	shard     shardID
	self      bool
	endLT     uint64
	queue     augmented
	processed processedUpto
}

func (st *state) neighbour(self bool) *neighbour {
	return &neighbour{shard: st.shard, self: self, endLT: st.genLT, queue: st.queue, processed: st.processed}
}

// fresh is a message made in this block, in the order of (lt, hash).
type fresh struct {
	lt          uint64
	message     tvm.OutMessage
	transaction *cell.Cell
}

type freshHeap []fresh

func (h freshHeap) Len() int { return len(h) }
func (h freshHeap) Less(i, j int) bool {
	if h[i].lt != h[j].lt {
		return h[i].lt < h[j].lt
	}
	return string(h[i].message.Cell.Hash()) < string(h[j].message.Cell.Hash())
}
func (h freshHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *freshHeap) Push(x any)   { *h = append(*h, x.(fresh)) }
func (h *freshHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = fresh{}
	*h = (*h)[:last]
	return x
}

// run executes a message on an account. Without a transaction cell in the
// result the message, an external one, was not accepted.
func (c *collation) run(id [32]byte, message *tvm.PreparedMessage, minLT uint64) (*tvm.TransactionExecutionResult, error) {
	a, err := c.account(id)
	if err != nil {
		return nil, err
	}
	result, err := c.chain.vm.EmulateTransaction(c.block, a.account, message,
		tvm.TransactionOptions{LogicalTime: int64(max(minLT, a.endLT)), AccountStorageStat: a.stat})
	if err != nil || result.TransactionCell == nil {
		return result, err
	}
	return result, c.keep(a, result)
}

// runTickTock executes a tick or a tock.
func (c *collation) runTickTock(id [32]byte, tock bool, minLT uint64) error {
	a, err := c.account(id)
	if err != nil {
		return err
	}
	state := a.account.State()
	if state == nil || !state.IsValid || state.Status != tlb.AccountStatusActive || state.StateInit == nil || state.StateInit.TickTock == nil {
		return nil
	}
	if flags := state.StateInit.TickTock; tock && !flags.Tock || !tock && !flags.Tick {
		return nil
	}
	result, err := c.chain.vm.EmulateTickTockTransaction(c.block, a.account, tock,
		tvm.TransactionOptions{LogicalTime: int64(minLT), AccountStorageStat: a.stat})
	if err != nil {
		return fmt.Errorf("tick or tock of account %x: %w", id, err)
	}
	return c.keep(a, result)
}

// keep makes a transaction part of the block.
func (c *collation) keep(a *blockAccount, result *tvm.TransactionExecutionResult) error {
	a.account, a.stat, a.endLT = result.NextAccount, result.AccountStorageStat, result.EndLT
	lt := result.NextAccount.ShardAccount().LastTransLT
	a.transactions = append(a.transactions, accountTransaction{lt, result.TransactionCell})
	c.maxLT = max(c.maxLT, result.EndLT)
	c.load.transaction(result)
	c.transactions = append(c.transactions, Transaction{
		Workchain: c.shard.workchain, Account: a.id, LT: lt,
		Hash: result.TransactionCell.HashKey(), Cell: result.TransactionCell,
	})
	for _, m := range result.OutMessages {
		switch m.Msg.MsgType {
		case tlb.MsgTypeExternalOut:
			c.addOut(m.Cell.Hash(), cell.BeginCell().MustStoreUInt(exportExt, 3).MustStoreRef(m.Cell).MustStoreRef(result.TransactionCell))
		case tlb.MsgTypeInternal:
			heap.Push(&c.fresh, fresh{m.Msg.AsInternal().CreatedLT, m, result.TransactionCell})
		default:
			return fmt.Errorf("message %x out of account %x is of type %s", m.Cell.Hash(), a.id, m.Msg.MsgType)
		}
	}
	return nil
}

// ordinary is the least lt of a transaction.
func (c *collation) ordinary() uint64 { return c.startLT + 1 }

// dequeue removes the messages that their receivers have taken, with a short
// record of each.
func (c *collation) dequeue() error {
	var order inOrder
	order.add(c.state.queue, nil)
	var limit uint64
	for _, n := range c.neighbours {
		limit = max(limit, n.processed.maxLT())
	}
	for {
		q := order.next(limit)
		if q == nil {
			return nil
		}
		n := c.neighbourAt(q.next)
		if n == nil {
			continue
		}
		taken, err := n.processed.has(q, c.endLT)
		if err != nil {
			return err
		}
		if taken {
			c.queue[q.key] = nil
			c.addOut(q.hash[:], cell.BeginCell().MustStoreUInt(exportDeqShort, 4).MustStoreSlice(q.envelope.Hash(), 256).
				MustStoreInt(int64(q.next.workchain), 32).MustStoreUInt(q.next.prefix, 64).MustStoreUInt(n.endLT, 64))
		}
	}
}

func (c *collation) neighbourAt(h hop) *neighbour {
	for _, n := range c.neighbours {
		if n.shard.holds(h.workchain, h.prefix) {
			return n
		}
	}
	return nil
}

// importInternal takes the neighbours' messages in the order of (lt, hash).
func (c *collation) importInternal() error {
	var order inOrder
	prefix := queueKey(hop{c.shard.workchain, c.shard.prefix()}, noAccount)
	for _, n := range c.neighbours {
		order.add(n.queue.part(prefix[:], 32+c.shard.depth()), n)
	}
	for !c.full() {
		q := order.next(math.MaxUint64)
		if q == nil {
			c.drained = true
			return nil
		}
		taken, err := c.state.processed.has(q, c.endLT)
		if err == nil && !taken {
			err = c.importOne(q)
		}
		if err != nil {
			return fmt.Errorf("message %x: %w", q.hash, err)
		}
	}
	return nil
}

func (c *collation) importOne(q *queued) error {
	message, err := tvm.PrepareMessage(q.message)
	if err != nil {
		return err
	}
	result, err := c.run([32]byte(message.Message().AsInternal().DstAddr.Data()), message, c.ordinary())
	if err != nil {
		return err
	}
	c.last = processed{lt: q.lt, hash: q.hash}
	b := cell.BeginCell().MustStoreUInt(importFin, 3).MustStoreRef(q.envelope).MustStoreRef(result.TransactionCell).
		MustStoreBigCoins(q.fee.Nano())
	c.addIn(q.hash[:], b)
	if q.from.self {
		c.queue[q.key] = nil
		c.addOut(q.hash[:], cell.BeginCell().MustStoreUInt(exportDeqImm, 3).MustStoreRef(q.envelope).MustStoreRef(b.EndCell()))
	}
	return nil
}

// importExternals takes external messages while there is room.
func (c *collation) importExternals(externals []*external) error {
	for _, e := range externals {
		if c.reached(medium) {
			return nil
		}
		if !c.shard.holds(e.workchain, accountPrefix(e.account[:])) {
			continue
		}
		if _, twice := c.taken[e]; twice {
			continue
		}
		c.taken[e] = true
		result, err := c.run(e.account, e.prepared, c.ordinary())
		switch {
		case err != nil:
			c.refused = append(c.refused, Refused{e.cell, err.Error()})
		case result.TransactionCell == nil:
			c.refused = append(c.refused, Refused{e.cell, refusal(result)})
		default:
			c.addIn(e.cell.Hash(), cell.BeginCell().MustStoreUInt(importExt, 3).MustStoreRef(e.cell).MustStoreRef(result.TransactionCell))
		}
	}
	return nil
}

// processFresh handles the messages made in this block in the order of
// (lt, hash): those for the shard itself at once, unless the block is full or
// older messages wait, all others through the queue.
func (c *collation) processFresh(queueOnly bool) error {
	for c.fresh.Len() > 0 {
		f := heap.Pop(&c.fresh).(fresh)
		queueOnly = queueOnly || c.full()
		m := f.message.Msg.AsInternal()
		dst := hopOf(m.DstAddr)
		if queueOnly || !c.shard.holds(dst.workchain, dst.prefix) {
			c.enqueue(f)
		} else if err := c.deliver(f); err != nil {
			return fmt.Errorf("message %x: %w", f.message.Cell.Hash(), err)
		}
	}
	return nil
}

func (c *collation) enqueue(f fresh) {
	m := f.message.Msg.AsInternal()
	src, dst := hopOf(m.SrcAddr), hopOf(m.DstAddr)
	current, next := route(src, dst, c.shard)
	envelope := envelopeOf(f.message.Cell, current, next, m.FwdFee)
	key := queueKey(src.toward(dst, uint(next)), f.message.Cell)
	c.queue[key] = cell.BeginCell().MustStoreUInt(f.lt, 64).MustStoreRef(envelope)
	c.addOut(f.message.Cell.Hash(), cell.BeginCell().MustStoreUInt(exportNew, 3).MustStoreRef(envelope).MustStoreRef(f.transaction))
}

func (c *collation) deliver(f fresh) error {
	m := f.message.Msg.AsInternal()
	message, err := tvm.PrepareParsedMessage(f.message.Cell, f.message.Msg)
	if err != nil {
		return err
	}
	result, err := c.run([32]byte(m.DstAddr.Data()), message, c.ordinary())
	if err != nil {
		return err
	}
	c.last = processed{lt: f.lt, hash: f.message.Cell.HashKey()}
	envelope := envelopeOf(f.message.Cell, 96, 96, m.FwdFee)
	in := cell.BeginCell().MustStoreUInt(importImm, 3).MustStoreRef(envelope).MustStoreRef(result.TransactionCell).
		MustStoreBigCoins(m.FwdFee.Nano())
	c.addIn(f.message.Cell.Hash(), in)
	c.addOut(f.message.Cell.Hash(), cell.BeginCell().MustStoreUInt(exportImm, 3).MustStoreRef(envelope).
		MustStoreRef(f.transaction).MustStoreRef(in.EndCell()))
	return nil
}

func (c *collation) addIn(hash []byte, record *cell.Builder) {
	c.in = append(c.in, change{hash, record})
}

func (c *collation) addOut(hash []byte, record *cell.Builder) {
	c.out = append(c.out, change{hash, record})
}

// Tags of InMsg and OutMsg (block.tlb).
const (
	importExt      = 0b000
	importImm      = 0b011
	importFin      = 0b100
	exportExt      = 0b000
	exportNew      = 0b001
	exportImm      = 0b010
	exportDeqImm   = 0b100
	exportDeqShort = 0b1101
)

func envelopeOf(message *cell.Cell, current, next uint8, fee tlb.Coins) *cell.Cell {
	return sure(tlb.MsgEnvelope{
		CurAddr: tlb.IntermediateAddress{UseDestBits: current}, NextAddr: tlb.IntermediateAddress{UseDestBits: next},
		FwdFeeRemaining: fee, Msg: message,
	}.ToCell())
}
