package chain

import (
	"container/heap"
	"encoding/binary"
	"math/bits"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// hop is a place on a message's way: a workchain and the first bits of an
// account id.
type hop struct {
	workchain int32
	prefix    uint64
}

func hopOf(a *address.Address) hop { return hop{a.Workchain(), accountPrefix(a.Data())} }

// toward replaces the first bits of h (workchain, then account) by those of
// the destination. The workchain is replaced whole or not at all.
func (h hop) toward(dst hop, n uint) hop {
	switch {
	case n < 32:
		return h
	case n >= 96:
		return dst
	}
	mask := ^uint64(0) >> (n - 32)
	return hop{dst.workchain, h.prefix&mask | dst.prefix&^mask}
}

// route is hypercube routing: how many bits of the destination the current and
// the next address of an envelope take over when a message from src to dst is
// queued in a shard.
func route(src, dst hop, shard shardID) (current, next uint8) {
	if shard.holds(dst.workchain, dst.prefix) {
		return 96, 96
	}
	if src.workchain != dst.workchain {
		return 0, 96 // only to or from the masterchain, which is next to everyone
	}
	low, high := shard.prefix(), shard.shard|(shard.shard-1)
	differ := src.prefix ^ dst.prefix
	n := bits.LeadingZeros64(differ) &^ 3
	for {
		n += 4
		reached := src.prefix ^ differ&^(^uint64(0)>>n)
		if n >= 64 || reached < low || reached > high {
			return uint8(28 + n), uint8(32 + n)
		}
	}
}

// queued is a message in an out queue.
type queued struct {
	key           [queueKeyBits / 8]byte // next hop, message hash
	lt            uint64
	hash          [32]byte
	envelope      *cell.Cell
	message       *cell.Cell
	fee           tlb.Coins // fwd_fee_remaining
	current, next hop
	from          *neighbour // whose queue it is in
}

func queueKey(next hop, message *cell.Cell) (key [queueKeyBits / 8]byte) {
	binary.BigEndian.PutUint32(key[:], uint32(next.workchain))
	binary.BigEndian.PutUint64(key[4:], next.prefix)
	copy(key[12:], message.Hash())
	return key
}

func parseQueued(key []byte, value *cell.Slice) *queued {
	q := &queued{
		key: [queueKeyBits / 8]byte(key), hash: [32]byte(key[12:]), lt: value.MustLoadUInt(64), envelope: sure(value.LoadRefCell()),
		next: hop{int32(binary.BigEndian.Uint32(key)), binary.BigEndian.Uint64(key[4:])},
	}
	var env tlb.MsgEnvelope
	sure(q, env.LoadFromCell(q.envelope.MustBeginParse()))
	q.message, q.fee = env.Msg, env.FwdFeeRemaining
	s := env.Msg.MustBeginParse()
	sure(s, s.SkipBits(4)) // int_msg_info$0 and three flags
	src, dst := hopOf(s.MustLoadAddr()), hopOf(s.MustLoadAddr())
	q.current = src.toward(dst, uint(env.CurAddr.UseDestBits))
	return q
}

// inOrder reads messages of many queues by (lt, hash). The extras of the queues
// are the lowest lt below each node, so only what is asked for is looked at.
type inOrder struct{ nodes queueHeap }

type queueNode struct {
	lt   uint64
	leaf bool
	edge *edge
	from *neighbour
	tree augmented
}

// add makes the messages of a queue part of the order.
func (o *inOrder) add(tree augmented, from *neighbour) {
	if tree.root != nil {
		o.push(tree, tree.parse(tree.root, 0, nil), from)
	}
}

func (o *inOrder) push(tree augmented, e *edge, from *neighbour) {
	heap.Push(&o.nodes, queueNode{lt: tree.atExtra(e).MustLoadUInt(64), leaf: e.end == tree.bits, edge: e, from: from, tree: tree})
}

// next gives the next message with an lt up to limit, or nil.
func (o *inOrder) next(limit uint64) *queued {
	for len(o.nodes) > 0 && o.nodes[0].lt <= limit {
		n := heap.Pop(&o.nodes).(queueNode)
		if n.leaf {
			q := parseQueued(n.edge.key, n.tree.value(n.edge))
			q.from = n.from
			return q
		}
		for side := range 2 {
			o.push(n.tree, n.tree.child(n.edge, n.edge.end, side), n.from)
		}
	}
	return nil
}

// queueHeap has the lowest lt first, forks before leaves, leaves by hash.
type queueHeap []queueNode

func (h queueHeap) Len() int { return len(h) }
func (h queueHeap) Less(i, j int) bool {
	a, b := &h[i], &h[j]
	if a.lt != b.lt {
		return a.lt < b.lt
	}
	if a.leaf != b.leaf {
		return !a.leaf
	}
	return string(a.edge.key[12:]) < string(b.edge.key[12:])
}
func (h queueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *queueHeap) Push(x any)   { *h = append(*h, x.(queueNode)) }
func (h *queueHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = queueNode{}
	*h = (*h)[:last]
	return x
}
