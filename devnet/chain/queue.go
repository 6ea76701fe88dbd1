package chain

import (
	"container/heap"
	"encoding/binary"
	"fmt"
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

func parseQueued(key []byte, value *cell.Slice) (*queued, error) {
	q := &queued{next: hop{int32(binary.BigEndian.Uint32(key)), binary.BigEndian.Uint64(key[4:])}}
	copy(q.key[:], key)
	copy(q.hash[:], key[12:])
	lt, err := value.LoadUInt(64)
	if err != nil {
		return nil, err
	}
	q.lt = lt
	if q.envelope, err = value.LoadRefCell(); err != nil {
		return nil, err
	}
	s, err := q.envelope.BeginParse()
	if err != nil {
		return nil, err
	}
	var env tlb.MsgEnvelope
	if err := env.LoadFromCell(s); err != nil {
		return nil, fmt.Errorf("envelope %x: %w", q.envelope.Hash(), err)
	}
	q.message, q.fee = env.Msg, env.FwdFeeRemaining
	src, dst, err := ends(env.Msg)
	if err != nil {
		return nil, err
	}
	q.current = hopOf(src).toward(hopOf(dst), uint(env.CurAddr.UseDestBits))
	return q, nil
}

// ends are the source and destination of an internal message.
func ends(message *cell.Cell) (src, dst *address.Address, err error) {
	s, err := message.BeginParse()
	if err != nil {
		return nil, nil, err
	}
	if err := s.SkipBits(4); err != nil { // int_msg_info$0 and three flags
		return nil, nil, err
	}
	if src, err = s.LoadAddr(); err == nil {
		dst, err = s.LoadAddr()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("addresses of message %x: %w", message.Hash(), err)
	}
	return src, dst, nil
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
func (o *inOrder) add(tree augmented, from *neighbour) error {
	if tree.root == nil {
		return nil
	}
	e, err := tree.parse(tree.root, 0, nil)
	if err != nil {
		return err
	}
	return o.push(tree, e, from)
}

func (o *inOrder) push(tree augmented, e *edge, from *neighbour) error {
	s, err := tree.atExtra(e)
	if err != nil {
		return err
	}
	lt, err := s.LoadUInt(64)
	if err != nil {
		return err
	}
	heap.Push(&o.nodes, queueNode{lt: lt, leaf: e.end == tree.bits, edge: e, from: from, tree: tree})
	return nil
}

// next gives the next message with an lt up to limit, or nil.
func (o *inOrder) next(limit uint64) (*queued, error) {
	for len(o.nodes) > 0 && o.nodes[0].lt <= limit {
		n := heap.Pop(&o.nodes).(queueNode)
		if n.leaf {
			value := n.edge.body.Copy()
			if err := value.SkipBits(64); err != nil {
				return nil, err
			}
			q, err := parseQueued(n.edge.key, value)
			if err == nil {
				q.from = n.from
			}
			return q, err
		}
		for side := range 2 {
			child, err := n.tree.child(n.edge, n.edge.end, side)
			if err != nil {
				return nil, err
			}
			if err := o.push(n.tree, child, n.from); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
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
