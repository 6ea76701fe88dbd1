package chain

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"

	machine "tonscribe/ton/tvm"
)

// Chain is a masterchain and a basechain, at their newest blocks. It may be
// used by one goroutine at a time.
type Chain struct {
	options Options
	key     ed25519.PrivateKey
	vm      *tvm.TVM

	masterZero, baseZero *Zerostate

	master    *shardHead
	candidate *Candidate   // that finalized master; nil before the first block and without simplex
	extra     *masterExtra // of the master's state
	settings  *settings
	shards    []*shardHead // in the order of extra.shards
	ends      shardEnds
	pending   []*external
	past      past
	wants     map[shardID]planKind // a shard to be split; the parent of shards to be merged
}

// ErrNoAccount says that there is no account at an address.
var ErrNoAccount = errors.New("no such account")

// New builds the zerostates.
func New(o Options) (_ *Chain, err error) {
	defer rescue(&err)
	c := &Chain{options: o, vm: machine.Machine(), ends: shardEnds{}, wants: map[shardID]planKind{}}
	seed := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("tonscribe devnet validator "), o.Seed))
	c.key = ed25519.NewKeyFromSeed(seed[:])
	if err := c.genesis(); err != nil {
		return nil, fmt.Errorf("zerostate: %w", err)
	}
	return c, c.setHead(&Block{ID: c.masterZero.ID, Data: c.masterZero.Data, State: c.masterZero.State, GenUtime: o.GenUtime},
		[]*Block{{ID: c.baseZero.ID, Data: c.baseZero.Data, State: c.baseZero.State, GenUtime: o.GenUtime}})
}

// Resume goes on from a head of the chain that New(o) begins, as if it had
// never stopped.
func Resume(o Options, h Head) (*Chain, error) {
	c, err := New(o)
	if err != nil || h.Master == nil || h.Master.ID.SeqNo == 0 {
		return c, err
	}
	if err := c.setHead(h.Master, h.Shards); err != nil {
		return nil, fmt.Errorf("head %d: %w", h.Master.ID.SeqNo, err)
	}
	c.candidate = h.Candidate
	for _, b := range h.Earlier {
		if err := c.ends.read(b); err != nil {
			return nil, fmt.Errorf("earlier masterchain block %d: %w", b.ID.SeqNo, err)
		}
	}
	for seqno := OldestReference(h); seqno < h.Master.ID.SeqNo; seqno++ {
		if c.ends[seqno] == nil {
			return nil, fmt.Errorf("head %d: earlier masterchain block %d is missing", h.Master.ID.SeqNo, seqno)
		}
	}
	for _, m := range h.Pending {
		e, err := parseExternal(m)
		if errors.Is(err, machine.ErrMessageTooLarge) {
			continue // from before there was a bound; it would stop the chain
		}
		if err != nil {
			return nil, fmt.Errorf("head %d: external message %x: %w", h.Master.ID.SeqNo, m.Hash(), err)
		}
		c.pending = append(c.pending, e)
	}
	return c, nil
}

// OldestReference is the seqno of the oldest masterchain block that the states
// of a head refer to: Earlier begins there.
func OldestReference(h Head) uint32 {
	oldest := h.Master.ID.SeqNo
	for _, b := range append([]*Block{h.Master}, h.Shards...) {
		if st, err := parseState(b.State); err == nil {
			oldest = min(oldest, st.processed.oldest())
		}
	}
	return oldest
}

// setHead makes blocks the newest ones.
func (c *Chain) setHead(master *Block, shards []*Block) error {
	st, err := parseState(master.State)
	if err != nil {
		return err
	}
	if c.extra, err = parseMasterExtra(st.custom); err != nil {
		return err
	}
	if c.settings, err = readSettings(c.extra.config, c.options); err != nil {
		return err
	}
	c.master = &shardHead{block: master, state: st}
	c.shards = nil
	for _, b := range shards {
		st, err := parseState(b.State)
		if err != nil {
			return fmt.Errorf("shard %s: %w", shardOf(b), err)
		}
		c.shards = append(c.shards, &shardHead{block: b, state: st})
	}
	sortHeads(c.shards)
	c.ends.note(c.master, c.shards)
	for _, d := range c.extra.shards { // what was asked for is in the blocks
		if d.wantSplit {
			c.wants[d.shard] = planSplit
		}
		if d.wantMerge {
			c.wants[d.shard.parent()] = planMerge
		}
	}
	return nil
}

func sortHeads(heads []*shardHead) {
	slices.SortFunc(heads, func(a, b *shardHead) int { return shardOf(a.block).compare(shardOf(b.block)) })
}

// Zerostates are the states before the first blocks.
func (c *Chain) Zerostates() (master, base *Zerostate) { return c.masterZero, c.baseZero }

// Key is the validator's.
func (c *Chain) Key() ed25519.PrivateKey { return c.key }

func (c *Chain) publicKey() []byte { return c.key.Public().(ed25519.PublicKey) }

// Head are the newest blocks.
func (c *Chain) Head() (master *Block, shards []*Block) {
	for _, h := range c.shards {
		shards = append(shards, h.block)
	}
	return c.master.block, shards
}

// Config is the config that the next block will be made by: Hashmap 32 ^Cell.
func (c *Chain) Config() *cell.Cell { return c.settings.root }

// Pending are external messages that no block had room for, oldest first.
func (c *Chain) Pending() []*cell.Cell {
	out := make([]*cell.Cell, len(c.pending))
	for i, e := range c.pending {
		out[i] = e.cell
	}
	return out
}

// Account is an account at the head; ErrNoAccount when there is none.
func (c *Chain) Account(workchain int32, id [32]byte) (_ *tlb.ShardAccount, err error) {
	defer rescue(&err)
	st := c.stateAt(hop{workchain, accountPrefix(id[:])})
	if st == nil {
		return nil, fmt.Errorf("workchain %d: %w", workchain, ErrNoAccount)
	}
	account, exists, err := st.shardAccount(id[:])
	if err == nil && !exists {
		return nil, ErrNoAccount
	}
	return account, err
}

// State is the cell of an account at the head; nil when there is none.
func (c *Chain) State(workchain int32, id [32]byte) (*cell.Cell, error) {
	account, err := c.Account(workchain, id)
	if errors.Is(err, ErrNoAccount) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return account.Account, nil
}

func (c *Chain) stateAt(h hop) *state {
	for _, head := range append([]*shardHead{c.master}, c.shards...) {
		if head.state.shard.holds(h.workchain, h.prefix) {
			return head.state
		}
	}
	return nil
}

// Check reports whether the account would accept an external message now.
func (c *Chain) Check(message *cell.Cell) (err error) {
	defer rescue(&err)
	e, err := parseExternal(message)
	if err != nil {
		return err
	}
	k := &collation{
		chain: c, shard: shardID{e.workchain, fullShard}, settings: c.settings, accounts: map[[32]byte]*blockAccount{},
		state: c.stateAt(hop{e.workchain, accountPrefix(e.account[:])}), now: c.master.state.genUtime, prev: []*Block{c.master.block},
	}
	k.startAfter(c.master.state.genLT)
	if err := k.begin(); err != nil {
		return err
	}
	a, err := k.account(e.account)
	if err != nil {
		return err
	}
	accepted, err := c.vm.CheckExternalMessageAccepted(k.block, a.account, e.prepared, tvm.TransactionOptions{LogicalTime: int64(k.ordinary())})
	if err == nil && !accepted {
		err = errNotAccepted
	}
	return err
}

var errNotAccepted = errors.New("external message was not accepted")

// Split asks for a shard of the basechain to be split in two. It happens some
// blocks later.
func (c *Chain) Split(shard uint64) error {
	id := shardID{basechain, shard}
	switch d := c.descrOf(id); {
	case d == nil:
		return fmt.Errorf("there is no shard %s", id)
	case id.depth() >= c.settings.maxSplit:
		return fmt.Errorf("shard %s is as small as config param 12 allows", id)
	}
	c.wants[id] = planSplit
	return nil
}

// Merge asks for a shard of the basechain to be merged with its sibling. It
// happens some blocks later.
func (c *Chain) Merge(shard uint64) error {
	id := shardID{basechain, shard}
	switch {
	case c.descrOf(id) == nil:
		return fmt.Errorf("there is no shard %s", id)
	case id.depth() <= c.settings.minSplit:
		return fmt.Errorf("shard %s is as large as config param 12 allows", id)
	case c.descrOf(id.sibling()) == nil:
		return fmt.Errorf("the sibling of shard %s is split", id)
	}
	delete(c.wants, id)
	delete(c.wants, id.sibling())
	c.wants[id.parent()] = planMerge
	return nil
}

func (c *Chain) descrOf(id shardID) *shardDescr {
	for _, d := range c.extra.shards {
		if d.shard == id {
			return d
		}
	}
	return nil
}

// ltAlign is what the first lt of every block is a multiple of.
const ltAlign = 1_000_000

func (c *collation) startAfter(lt uint64) {
	c.startLT = (lt/ltAlign + 1) * ltAlign
	c.maxLT = c.startLT + 1
}

// begin makes the context that transactions run in.
func (c *collation) begin() error {
	seed := sha256.New()
	fmt.Fprintf(seed, "tonscribe devnet block %d %s %d ", c.chain.options.Seed, c.shard, c.seqno)
	for _, p := range c.prev {
		seed.Write(p.ID.RootHash)
	}
	c.seed = seed.Sum(nil)
	var libraries []*cell.Cell
	if l := c.chain.master.state.libraries; l != nil {
		libraries = append(libraries, l)
	}
	var err error
	c.block, err = c.settings.prepared.NewBlockContext(tvm.BlockOptions{
		Now: c.now, BlockLT: int64(c.startLT), RandSeed: c.seed, Libraries: libraries, PrevBlocks: c.chain.previous(),
	})
	return err
}

// lastKeySeqno is the newest key block up to the head.
func (c *Chain) lastKeySeqno() uint32 {
	switch {
	case c.extra.afterKey:
		return c.master.block.ID.SeqNo
	case c.extra.lastKey != nil:
		return c.extra.lastKey.SeqNo
	}
	return 0
}
