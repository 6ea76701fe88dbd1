package pending

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"time"

	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
	toncell "tonscribe/ton/cell"
	"tonscribe/ton/tvm"
)

// Moment is the block that the transactions are foreseen in.
type Moment struct {
	Config *tvm.Config
	Now    uint32
	// LT is the block's first one, that of its first transaction is one more.
	LT uint64
	// Shards are those of all workchains, by which a message comes to its receiver in
	// the same block or a later one. Without them all is in one.
	Shards []Shard
}

// Shard is a shard as block ids name it.
type Shard struct {
	Workchain int32
	Prefix    uint64 // with its tag bit
}

// shardOf returns the shard of an account, the zero value where it is not known.
func (m *Moment) shardOf(a address.Address) Shard {
	for _, s := range m.Shards {
		if s.Workchain == a.Workchain() && schema.ShardsMeet(s.Prefix, schema.Prefix(a.ID())|1) {
			return s
		}
	}
	return Shard{}
}

const (
	// ltAlign is what the first lt of every block is a multiple of.
	ltAlign = 1_000_000
	// hop is how many blocks lie between the one that sends a message to another shard
	// and the one that receives it: that of the masterchain which shows the one to the
	// other comes between.
	hop = 2
)

// State is an account before its next transaction.
type State struct {
	Account  *cell.Cell // Account of block.tlb, nil for none
	LastLT   uint64
	LastHash [32]byte
}

// World is the chain as the message finds it. It is asked by several goroutines.
type World interface {
	// State is that of an account, the zero value for one that is not there.
	State(ctx context.Context, account address.Address) (State, error)
	// Libraries are public libraries by their hashes, nil for those that are not known.
	Libraries(ctx context.Context, hashes [][32]byte) ([]*cell.Cell, error)
	// Deliver executes a message on an account.
	Deliver(ctx context.Context, in tvm.Delivery) (tvm.Outcome, error)
}

// Limits bound what one message may cost.
type Limits struct {
	// Transactions is how many are executed.
	Transactions int `yaml:"max_transactions"`
	// Depth is how many messages follow each other, that from outside included.
	Depth int `yaml:"max_depth"`
	// Gas bounds all of them together.
	Gas int64 `yaml:"max_gas"`
	// Cells bounds the states of the accounts that execute them, each as often as it
	// does: it is read and written each time.
	Cells uint64 `yaml:"max_state_cells"`
	// Bytes bounds the records of the transactions.
	Bytes int `yaml:"max_trace_bytes"`
	// Time bounds all of it.
	Time time.Duration `yaml:"deadline"`
}

// DefaultLimits are enough for what people do: a payment to 250 receivers, a swap
// through several pools.
func DefaultLimits() Limits {
	return Limits{Transactions: 300, Depth: 32, Gas: 10_000_000, Cells: 1 << 18, Bytes: 512 << 10, Time: 2 * time.Second}
}

// Validate names the first value that makes no sense.
func (l Limits) Validate() error {
	switch {
	case l.Transactions < 1 || l.Transactions > 4000:
		return fmt.Errorf("max_transactions %d: want 1 to 4000", l.Transactions)
	case l.Depth < 1:
		return fmt.Errorf("max_depth %d: want 1 at least", l.Depth)
	case l.Gas < 1:
		return fmt.Errorf("max_gas %d: want 1 at least", l.Gas)
	case l.Cells < 1:
		return fmt.Errorf("max_state_cells %d: want 1 at least", l.Cells)
	case l.Bytes < 1024 || l.Bytes > 8<<20:
		return fmt.Errorf("max_trace_bytes %d: want 1024 to 8 MiB", l.Bytes)
	case l.Time <= 0:
		return fmt.Errorf("deadline %s: want more than 0", l.Time)
	}
	return nil
}

// Cascade is what was foreseen.
type Cascade struct {
	// Transactions are in the order in which they were executed, that of lt; the
	// first one received the message from outside.
	Transactions []*record.Transaction
	Gas          int64
	// Cut says why there may be more: a limit, or a failure of the World. It is nil
	// where every message was received.
	Cut error
}

var (
	// ErrNotAccepted is the error of a message that its receiver refuses.
	ErrNotAccepted = errors.New("the message is not accepted")
	// ErrLimits is what a cascade that a limit ends is cut by.
	ErrLimits = errors.New("a limit is reached")
	// ErrMessage is the error of what is no message from outside to an account.
	ErrMessage = errors.New("no message from outside")
)

// Run foresees what an external-in message does. Messages inside the chain are
// received in the same block by accounts of the same shard, by others in the next one
// that can, all at the same time; those of a block in the order of (lt, hash). Without a
// first transaction there is an error, such as ErrNotAccepted; what goes wrong later cuts
// the cascade.
func Run(ctx context.Context, w World, m Moment, message *cell.Cell, limits Limits) (*Cascade, error) {
	ctx, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	to, ok := externalReceiver(message)
	if !ok {
		return nil, ErrMessage
	}
	r := &run{world: w, moment: m, limits: limits, states: map[address.Address]State{}, ahead: newAhead(w), made: &Cascade{}}
	defer r.ahead.wait()
	defer cancel() // before it waits
	if err := r.deliver(ctx, &due{message: message, to: to, depth: 1, block: m.LT}); err != nil {
		return nil, err
	}
	for r.made.Cut == nil && len(r.due) > 0 {
		if err := r.deliver(ctx, heap.Pop(&r.due).(*due)); err != nil {
			r.made.Cut = err
		}
	}
	return r.made, nil
}

// externalReceiver reads the destination of ext_in_msg_info.
func externalReceiver(message *cell.Cell) (to address.Address, ok bool) {
	var m tlb.Message
	if message == nil || tlb.Parse(&m, message) != nil || m.MsgType != tlb.MsgTypeExternalIn {
		return to, false
	}
	a := m.AsExternalIn().DstAddr
	if a == nil || a.Type() != tonutils.StdAddress {
		return to, false
	}
	return address.New(a.Workchain(), a.Data()), true
}

// due is a message that was sent and not received yet.
type due struct {
	message *cell.Cell
	to      address.Address
	lt      uint64
	block   uint64 // the first lt of the block that it is received in
	depth   int
}

// queue has the message first that is received first: of one block that which was sent
// first.
type queue []*due

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].block != q[j].block {
		return q[i].block < q[j].block
	}
	if q[i].lt != q[j].lt {
		return q[i].lt < q[j].lt
	}
	a, b := q[i].message.HashKey(), q[j].message.HashKey()
	return bytes.Compare(a[:], b[:]) < 0
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*due)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// run is a cascade being foreseen.
type run struct {
	world   World
	moment  Moment
	limits  Limits
	states  map[address.Address]State // after the transactions that were executed
	ahead   *ahead                    // before them
	due     queue
	made    *Cascade
	cells   uint64
	bytes   int
	decoder decode.Decoder
}

// deliver executes the transaction that a message makes.
func (r *run) deliver(ctx context.Context, d *due) error {
	switch {
	case len(r.made.Transactions) == r.limits.Transactions:
		return fmt.Errorf("%w: %d transactions", ErrLimits, r.limits.Transactions)
	case d.depth > r.limits.Depth:
		return fmt.Errorf("%w: %d messages behind each other", ErrLimits, r.limits.Depth)
	case r.made.Gas >= r.limits.Gas:
		return fmt.Errorf("%w: %d gas", ErrLimits, r.limits.Gas)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	before, known := r.states[d.to]
	if !known {
		var err error
		if before, err = r.ahead.state(ctx, d.to); err != nil {
			return fmt.Errorf("account %s: %w", d.to, err)
		}
	}
	if r.cells += cellsOf(before.Account); r.cells > r.limits.Cells {
		return fmt.Errorf("%w: %d cells of states", ErrLimits, r.limits.Cells)
	}
	in := tvm.Delivery{
		Context: tvm.Context{Config: r.moment.Config, Now: r.moment.Now, LT: d.block + 1, BlockLT: d.block},
		Address: tonutils.NewAddress(0, byte(d.to.Workchain()), d.to.ID()), Account: before.Account,
		LastHash: before.LastHash, LastLT: before.LastLT, Message: d.message,
	}
	if err := in.FindLibraries(func(hashes [][32]byte) ([]*cell.Cell, error) { return r.world.Libraries(ctx, hashes) }); err != nil {
		return fmt.Errorf("account %s: library: %w", d.to, err)
	}
	out, err := r.world.Deliver(ctx, in)
	if err != nil {
		return fmt.Errorf("account %s: %w", d.to, err)
	}
	if !out.Accepted {
		return fmt.Errorf("account %s: %w, exit code %d", d.to, ErrNotAccepted, out.ExitCode)
	}
	return r.keep(ctx, d, out)
}

// keep takes a transaction into the cascade, and the messages that it sends.
func (r *run) keep(ctx context.Context, d *due, out tvm.Outcome) error {
	tx, err := r.record(out.Transaction)
	if err != nil {
		return fmt.Errorf("account %s: %w", d.to, err)
	}
	size := tx.SizeVT()
	if r.bytes += size; r.bytes > r.limits.Bytes {
		return fmt.Errorf("%w: %d bytes of records", ErrLimits, r.limits.Bytes)
	}
	r.made.Gas += out.GasUsed
	r.made.Transactions = append(r.made.Transactions, tx)
	r.states[d.to] = State{Account: out.Account, LastLT: tx.Lt, LastHash: [32]byte(tx.Hash)}
	cells := make(map[[32]byte]*cell.Cell, len(out.Messages))
	for _, m := range out.Messages {
		cells[m.HashKey()] = m
	}
	for _, m := range tx.OutMsgs {
		sent := cells[[32]byte(m.Hash)]
		if m.Kind != record.Message_INTERNAL || sent == nil || len(m.Destination) != address.Size {
			continue
		}
		next := &due{message: sent, to: address.Address(m.Destination), lt: m.CreatedLt, block: d.block, depth: d.depth + 1}
		if r.moment.shardOf(next.to) != r.moment.shardOf(d.to) {
			next.block = (next.lt/ltAlign + hop) * ltAlign
		}
		heap.Push(&r.due, next)
		if _, known := r.states[next.to]; !known && len(r.made.Transactions)+len(r.ahead.asked) < r.limits.Transactions {
			r.ahead.ask(ctx, next.to)
		}
	}
	return nil
}

// record decodes a transaction's cell as those of blocks are decoded. Messages may
// share cells, so its size as a tree is looked at first.
func (r *run) record(transaction *cell.Cell) (*record.Transaction, error) {
	counted, err := toncell.SizeOf(r.limits.Bytes, transaction)
	if err != nil || counted.TreeCells > uint64(r.limits.Bytes) || counted.TreeBits/8 > uint64(r.limits.Bytes) {
		return nil, fmt.Errorf("%w: a transaction of more than %d bytes", ErrLimits, r.limits.Bytes)
	}
	tx, err := r.decoder.Transaction(transaction.ToBOCWithOptions(cell.BOCSerializeOptions{}), r.moment.Config.GlobalVersion())
	if err == nil {
		tx.Block = &record.BlockRef{Workchain: schema.Workchain(tx.Account)}
	}
	return tx, err
}

// cellsOf is how many cells an account has, as it tells them.
func cellsOf(account *cell.Cell) uint64 {
	var state tlb.AccountState
	if account == nil || tlb.Parse(&state, account) != nil || !state.IsValid || state.StorageInfo.StorageUsed.CellsUsed == nil {
		return 0
	}
	return state.StorageInfo.StorageUsed.CellsUsed.Uint64()
}
