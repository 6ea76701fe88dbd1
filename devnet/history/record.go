package history

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/devnet/chain"
)

var errRecord = errors.New("record is damaged")

// Meta is what the index knows of a block.
type Meta struct {
	ID             *ton.BlockIDExt
	GenUtime       uint32
	StartLT, EndLT uint64
	// MCSeqno is the masterchain block that commits it; its own seqno for a
	// masterchain block.
	MCSeqno uint32
}

// Commit is a bundle by its ids.
type Commit struct {
	Master *ton.BlockIDExt
	// Shards are the blocks committed for the first time, Tops the newest of
	// every shard, which may be older; both by workchain, shard, seqno.
	Shards, Tops     []*ton.BlockIDExt
	Signatures       []ton.Signature
	ValidatorSetHash uint32
	CatchainSeqno    uint32
	Candidate        *chain.Candidate
}

func (m Meta) encode() []byte {
	out := append(append([]byte(nil), m.ID.RootHash...), m.ID.FileHash...)
	out = binary.BigEndian.AppendUint32(out, m.GenUtime)
	out = binary.BigEndian.AppendUint64(out, m.StartLT)
	out = binary.BigEndian.AppendUint64(out, m.EndLT)
	return binary.BigEndian.AppendUint32(out, m.MCSeqno)
}

func decodeMeta(key blockKey, value []byte) (Meta, error) {
	r := reader{data: value}
	m := Meta{
		ID: &ton.BlockIDExt{
			Workchain: key.workchain, Shard: int64(key.shard), SeqNo: key.seqno,
			RootHash: r.bytes(32), FileHash: r.bytes(32),
		},
		GenUtime: r.uint32(), StartLT: r.uint64(), EndLT: r.uint64(), MCSeqno: r.uint32(),
	}
	return m, r.end("block %v", key)
}

func (c Commit) encode() []byte {
	out := appendID(nil, c.Master)
	out = appendIDs(appendIDs(out, c.Shards), c.Tops)
	out = binary.BigEndian.AppendUint32(out, c.ValidatorSetHash)
	out = binary.BigEndian.AppendUint32(out, c.CatchainSeqno)
	out = binary.BigEndian.AppendUint32(out, uint32(len(c.Signatures)))
	for _, s := range c.Signatures {
		out = append(append(out, s.NodeIDShort...), s.Signature...)
	}
	if c.Candidate != nil {
		out = append(out, c.Candidate.SessionID...)
		out = binary.BigEndian.AppendUint32(out, c.Candidate.Slot)
		out = binary.BigEndian.AppendUint32(out, uint32(len(c.Candidate.Data)))
		out = append(out, c.Candidate.Data...)
	}
	return out
}

func decodeCommit(seqno uint32, value []byte) (Commit, error) {
	r := reader{data: value}
	c := Commit{Master: r.id(), Shards: r.ids(), Tops: r.ids(), ValidatorSetHash: r.uint32(), CatchainSeqno: r.uint32()}
	for range r.count(32 + 64) {
		c.Signatures = append(c.Signatures, ton.Signature{NodeIDShort: r.bytes(32), Signature: r.bytes(64)})
	}
	if len(r.data) > 0 {
		c.Candidate = &chain.Candidate{SessionID: r.bytes(32), Slot: r.uint32()}
		c.Candidate.Data = r.bytes(r.count(1))
	}
	return c, r.end("bundle %d", seqno)
}

func appendID(out []byte, id *ton.BlockIDExt) []byte {
	out = keyOf(id).append(out)
	out = binary.BigEndian.AppendUint32(out, id.SeqNo)
	return append(append(out, id.RootHash...), id.FileHash...)
}

func appendIDs(out []byte, ids []*ton.BlockIDExt) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(ids)))
	for _, id := range ids {
		out = appendID(out, id)
	}
	return out
}

// reader of records. After a failure everything is zero and end tells.
type reader struct {
	data   []byte
	failed bool
}

func (r *reader) take(n int) []byte {
	if r.failed || len(r.data) < n {
		r.failed = true
		return make([]byte, n)
	}
	part := r.data[:n]
	r.data = r.data[n:]
	return part
}

func (r *reader) bytes(n int) []byte { return append([]byte(nil), r.take(n)...) }
func (r *reader) uint32() uint32     { return binary.BigEndian.Uint32(r.take(4)) }
func (r *reader) uint64() uint64     { return binary.BigEndian.Uint64(r.take(8)) }

// count of items that take at least size bytes each.
func (r *reader) count(size int) int {
	n := int(r.uint32())
	if n > len(r.data)/size {
		r.failed = true
		return 0
	}
	return n
}

const idSize = 4 + 8 + 4 + 32 + 32

func (r *reader) id() *ton.BlockIDExt {
	return &ton.BlockIDExt{
		Workchain: int32(r.uint32() ^ 1<<31), Shard: int64(r.uint64()), SeqNo: r.uint32(),
		RootHash: r.bytes(32), FileHash: r.bytes(32),
	}
}

func (r *reader) ids() []*ton.BlockIDExt {
	n := r.count(idSize)
	ids := make([]*ton.BlockIDExt, 0, n)
	for range n {
		ids = append(ids, r.id())
	}
	return ids
}

func (r *reader) end(format string, values ...any) error {
	if r.failed || len(r.data) != 0 {
		return fmt.Errorf(format+": %w", append(values, errRecord)...)
	}
	return nil
}
