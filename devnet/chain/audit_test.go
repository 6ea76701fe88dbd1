package chain

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
)

// audit follows a chain by its bytes alone and recomputes what they claim.
type audit struct {
	t      testing.TB
	key    ed25519.PublicKey
	states map[shardID]*cell.Cell // of the newest block of each shard
	tips   map[shardID]*Block
	master *Block

	sent      map[[32]byte]uint64 // lt of internal messages that nobody has received
	received  map[[32]byte]bool
	pairs     map[string]uint64 // newest lt received, by sender and receiver
	splits    int
	merges    int
	count     int
	keyBlocks []uint32
}

// begin makes a chain and its audit.
func begin(t testing.TB, o Options) (*Chain, *audit) {
	t.Helper()
	c, err := New(o)
	must(t, err)
	return c, newAudit(t, c)
}

func newAudit(t testing.TB, c *Chain) *audit {
	master, base := c.Zerostates()
	a := &audit{
		t: t, key: c.Key().Public().(ed25519.PublicKey), states: map[shardID]*cell.Cell{}, tips: map[shardID]*Block{},
		sent: map[[32]byte]uint64{}, received: map[[32]byte]bool{}, pairs: map[string]uint64{},
	}
	for _, z := range []*Zerostate{master, base} {
		s := shardID{z.ID.Workchain, uint64(z.ID.Shard)}
		a.states[s], a.tips[s] = z.State, &Block{ID: z.ID}
	}
	return a
}

// bundle checks one bundle.
func (a *audit) bundle(b *Bundle) {
	a.t.Helper()
	for _, s := range b.Shards {
		a.block(s, b.Master.ID.SeqNo)
	}
	a.block(b.Master, b.Master.ID.SeqNo)
	a.signatures(b)
	a.shardsOf(b)
	a.balance(b)
	a.master = b.Master
}

func (a *audit) fail(b *Block, format string, args ...any) {
	a.t.Helper()
	a.t.Fatalf("block %s seqno %d: %s", shardOf(b), b.ID.SeqNo, fmt.Sprintf(format, args...))
}

func (a *audit) block(b *Block, mcSeqno uint32) {
	a.t.Helper()
	if file := sha256.Sum256(b.Data); !bytes.Equal(file[:], b.ID.FileHash) {
		a.fail(b, "file hash %x, id has %x", file, b.ID.FileHash)
	}
	info, err := decode.Header(b.Data)
	if err != nil {
		a.fail(b, "decode header: %v", err)
	}
	result, err := decode.Block(b.Data, mcSeqno)
	if err != nil {
		a.fail(b, "decode: %v", err)
	}
	if !bytes.Equal(info.ID.RootHash, b.ID.RootHash) || info.ID.Seqno != b.ID.SeqNo || info.ID.Shard != uint64(b.ID.Shard) {
		a.fail(b, "decoded id %v", info.ID)
	}
	if len(result.Transactions) != len(b.Transactions) {
		a.fail(b, "%d transactions decoded, %d made", len(result.Transactions), len(b.Transactions))
	}
	for i, tx := range result.Transactions {
		if want := b.Transactions[i]; !bytes.Equal(tx.Hash, want.Hash[:]) || tx.Lt != want.LT {
			a.fail(b, "transaction %d is %x at %d, want %x at %d", i, tx.Hash, tx.Lt, want.Hash, want.LT)
		}
	}
	a.count += len(b.Transactions)
	root, err := cell.FromBOC(b.Data)
	must(a.t, err)
	a.previous(b, info)
	a.update(b, root, info)
	a.messages(b, root)
	a.values(b, root)
}

// previous checks that the block goes on where its shard stood.
func (a *audit) previous(b *Block, info *decode.BlockInfo) {
	s := shardOf(b)
	var want []shardID
	switch {
	case info.AfterSplit:
		want = []shardID{s.parent()}
		a.splits++
	case info.AfterMerge:
		want = []shardID{s.child(false), s.child(true)}
		a.merges++
	default:
		want = []shardID{s}
	}
	if len(info.Prev) != len(want) {
		a.fail(b, "%d previous blocks, want %d", len(info.Prev), len(want))
	}
	var seqno uint32
	for i, w := range want {
		tip := a.tips[w]
		if tip == nil {
			a.fail(b, "previous block of shard %s is not its newest", w)
		}
		if p := info.Prev[i]; p.Seqno != tip.ID.SeqNo || !bytes.Equal(p.RootHash, tip.ID.RootHash) || !bytes.Equal(p.FileHash, tip.ID.FileHash) {
			a.fail(b, "previous block is %v, newest of shard %s is %v", p, w, tip.ID)
		}
		seqno = max(seqno, tip.ID.SeqNo+1)
		if info.StartLT <= tip.EndLT || info.GenUtime < tip.GenUtime {
			a.fail(b, "begins at lt %d, %d; the one before ends at %d, %d", info.StartLT, info.GenUtime, tip.EndLT, tip.GenUtime)
		}
	}
	if info.ID.Seqno != seqno {
		a.fail(b, "seqno, want %d", seqno)
	}
	if s != masterShard && !bytes.Equal(info.MasterRef.RootHash, a.master.ID.RootHash) {
		a.fail(b, "refers to masterchain block %v, newest is %v", info.MasterRef, a.master.ID)
	}
}

// update applies the state update to the state before.
func (a *audit) update(b *Block, root *cell.Cell, info *decode.BlockInfo) {
	s := shardOf(b)
	before := a.states[s]
	switch {
	case info.AfterSplit:
		before = a.states[s.parent()]
	case info.AfterMerge:
		before = cell.BeginCell().MustStoreUInt(tagSplitState, 32).MustStoreRef(a.states[s.child(false)]).MustStoreRef(a.states[s.child(true)]).EndCell()
		delete(a.states, s.child(false))
		delete(a.states, s.child(true))
		delete(a.tips, s.child(false))
		delete(a.tips, s.child(true))
	}
	update := root.MustPeekRef(2)
	if err := cell.ValidateMerkleUpdate(update); err != nil {
		a.fail(b, "state update: %v", err)
	}
	after, _, err := cell.ApplyMerkleUpdate(before, update)
	if err != nil {
		a.fail(b, "state update: %v", err)
	}
	if after.HashKey() != b.State.HashKey() {
		a.fail(b, "state after the update is %x, the block's is %x", after.Hash(), b.State.Hash())
	}
	if info.AfterSplit && s.isRight() {
		delete(a.states, s.parent())
		delete(a.tips, s.parent())
	}
	a.states[s], a.tips[s] = after, b
}

// messages checks that what is received was sent, once, and in order.
func (a *audit) messages(b *Block, root *cell.Cell) {
	extra := root.MustPeekRef(3)
	in := loadAugmented(extra.MustPeekRef(0).MustBeginParse(), 256, tlb.AugInMsgDescr{})
	out := loadAugmented(extra.MustPeekRef(1).MustBeginParse(), 256, tlb.AugOutMsgDescr{})
	inbound, outbound := map[[32]byte]bool{}, map[[32]byte]bool{}
	for _, tx := range b.Transactions {
		var parsed tlb.Transaction
		must(a.t, tlb.Parse(&parsed, tx.Cell))
		if parsed.IO.In != nil {
			io := tx.Cell.MustPeekRef(0).MustPeekRef(0)
			inbound[io.HashKey()] = true
			a.receive(b, io, parsed.IO.In)
		}
		if parsed.IO.Out == nil {
			continue
		}
		list, err := parsed.IO.Out.List.LoadAll()
		must(a.t, err)
		for _, kv := range list {
			m := kv.Value.MustLoadRef().MustToCell()
			outbound[m.HashKey()] = true
			var msg tlb.Message
			must(a.t, tlb.Parse(&msg, m))
			if msg.MsgType == tlb.MsgTypeInternal {
				if _, twice := a.sent[m.HashKey()]; twice || a.received[m.HashKey()] {
					a.fail(b, "message %x is sent twice", m.Hash())
				}
				a.sent[m.HashKey()] = msg.AsInternal().CreatedLT
			}
		}
	}
	a.sameKeys(b, "in", in, inbound, nil)
	a.sameKeys(b, "out", out, outbound, func(value *cell.Slice) bool {
		return value.MustPreloadUInt(3) == exportDeqImm || value.BitsLeft() >= 4 && value.MustPreloadUInt(4) == exportDeqShort
	})
}

func (a *audit) sameKeys(b *Block, name string, d augmented, want map[[32]byte]bool, ignore func(*cell.Slice) bool) {
	n := 0
	must(a.t, d.walk(func(key []byte, value *cell.Slice) error {
		if ignore != nil && ignore(value) {
			return nil
		}
		n++
		if !want[[32]byte(key)] {
			a.fail(b, "%s message %x belongs to no transaction", name, key)
		}
		return nil
	}))
	if n != len(want) {
		a.fail(b, "%d %s messages described, transactions have %d", n, name, len(want))
	}
}

func (a *audit) receive(b *Block, c *cell.Cell, m *tlb.Message) {
	if m.MsgType != tlb.MsgTypeInternal {
		return
	}
	i := m.AsInternal()
	hash := c.HashKey()
	if _, ok := a.sent[hash]; !ok && i.SrcAddr.StringRaw() != "-1:"+fmt.Sprintf("%064x", 0) {
		a.fail(b, "message %x is received, sent %v, received before %v", hash, ok, a.received[hash])
	}
	delete(a.sent, hash)
	a.received[hash] = true
	pair := i.SrcAddr.StringRaw() + ">" + i.DstAddr.StringRaw()
	if i.CreatedLT <= a.pairs[pair] {
		a.fail(b, "%s: lt %d after lt %d", pair, i.CreatedLT, a.pairs[pair])
	}
	a.pairs[pair] = i.CreatedLT
}

// flowOf is ValueFlow read back.
func flowOf(t testing.TB, c *cell.Cell) valueFlow {
	s := c.MustBeginParse()
	if tag := s.MustLoadUInt(32); tag != 0xb8e48dfb {
		t.Fatalf("value flow has tag %x", tag)
	}
	first, second := s.MustLoadRef(), s.MustLoadRef()
	next := loadCurrency
	return valueFlow{
		fromPrev: next(first), toNext: next(first), imported: next(first), exported: next(first), collected: next(s),
		feesImported: next(second), recovered: next(second), created: next(second), minted: next(second),
	}
}

// values checks that value in equals value out.
func (a *audit) values(b *Block, root *cell.Cell) {
	f := flowOf(a.t, root.MustPeekRef(1))
	in := sum(f.fromPrev, f.imported, f.feesImported, f.recovered, f.created, f.minted)
	if out := sum(f.toNext, f.exported, f.collected); in.Cmp(out) != 0 {
		a.fail(b, "%s comes in, %s goes out", in, out)
	}
	st, err := parseState(b.State)
	must(a.t, err)
	if st.balance.Cmp(f.toNext) != 0 {
		a.fail(b, "the state holds %s, the value flow says %s", st.balance, f.toNext)
	}
	total := new(big.Int)
	must(a.t, st.accounts.walk(func(key []byte, value *cell.Slice) error {
		var account tlb.ShardAccount
		must(a.t, tlb.LoadFromCell(&account, value))
		var state tlb.AccountState
		must(a.t, tlb.Parse(&state, account.Account))
		if !state.IsValid {
			a.fail(b, "account %x is none and not deleted", key)
		}
		if !shardOf(b).holds(b.ID.Workchain, accountPrefix(key)) {
			a.fail(b, "account %x is of another shard", key)
		}
		total.Add(total, state.Balance.Nano())
		return nil
	}))
	if total.Cmp(f.toNext) != 0 {
		a.fail(b, "accounts hold %s, the value flow says %s", total, f.toNext)
	}
}

// balance checks that the money of the whole chain is what was created.
func (a *audit) balance(b *Bundle) {
	held := new(big.Int)
	onTheWay := map[[32]byte]bool{}
	for s, root := range a.states {
		st, err := parseState(root)
		must(a.t, err)
		held.Add(held, st.balance)
		if s == masterShard {
			held.Add(held, st.validatorFees)
		}
		must(a.t, st.queue.walk(func(key []byte, value *cell.Slice) error {
			q := parseQueued(key, value)
			if _, waits := a.sent[q.hash]; !waits {
				return nil // received, not dequeued yet
			}
			if onTheWay[q.hash] {
				a.t.Fatalf("message %x is in two queues", q.hash)
			}
			onTheWay[q.hash] = true
			var m tlb.Message
			must(a.t, tlb.Parse(&m, q.message))
			held.Add(held, m.AsInternal().Amount.Nano()).Add(held, q.fee.Nano())
			return nil
		}))
	}
	for hash := range a.sent {
		if !onTheWay[hash] {
			a.t.Fatalf("message %x is in no queue", hash)
		}
	}
	st, err := parseState(b.Master.State)
	must(a.t, err)
	x, err := parseMasterExtra(st.custom)
	must(a.t, err)
	if x.globalBalance.Cmp(held) != 0 {
		a.t.Fatalf("masterchain block %d: global balance %s, accounts, queues and fees hold %s", b.Master.ID.SeqNo, x.globalBalance, held)
	}
}

func (a *audit) signatures(b *Bundle) {
	if len(b.Signatures) != 1 || !ed25519.Verify(a.key, signedBytes(b.SignatureSet(), b.Master.ID), b.Signatures[0].Signature) {
		a.fail(b.Master, "signature is wrong")
	}
}

// shardsOf checks the masterchain's knowledge of the shards.
func (a *audit) shardsOf(b *Bundle) {
	info, err := decode.Header(b.Master.Data)
	must(a.t, err)
	if info.KeyBlock {
		a.keyBlocks = append(a.keyBlocks, info.ID.Seqno)
	}
	if len(info.Shards) != len(a.tips)-1 {
		a.fail(b.Master, "%d shards, want %d", len(info.Shards), len(a.tips)-1)
	}
	for _, d := range info.Shards {
		tip := a.tips[shardID{d.ID.Workchain, d.ID.Shard}]
		if tip == nil || !bytes.Equal(tip.ID.RootHash, d.ID.RootHash) {
			a.fail(b.Master, "shard block %v is not the newest one", d.ID)
		}
	}
}
