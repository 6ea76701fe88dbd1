package history

import (
	"encoding/binary"
	"math/bits"

	"github.com/xssnick/tonutils-go/ton"
)

// The kinds of records, the first byte of every key. Numbers in keys are big
// endian with the sign bit of workchains turned, so that keys sort as they count.
const (
	kindVersion     = 'v' // → layout version
	kindZerostate   = 'z' // workchain → id, bag of cells
	kindShard       = 'h' // workchain, shard → nothing: the shard has had blocks
	kindBundle      = 'm' // masterchain seqno → bundle record
	kindMeta        = 'b' // workchain, shard, seqno → block record
	kindData        = 'd' // workchain, shard, seqno → bag of cells
	kindLT          = 'l' // workchain, shard, end lt → seqno
	kindUtime       = 'u' // workchain, shard, time, seqno → nothing
	kindTransaction = 't' // workchain, account, lt → shard, seqno
	kindState       = 's' // workchain, shard, seqno → bag of cells of the state
	kindSnapshot    = 'p' // masterchain seqno → the states stored with that bundle
	kindPending     = 'e' // → the external messages that the last bundle left
	kindWaiting     = 'w' // number → time, external message that is in no bundle yet
)

const layoutVersion = 1

type shardKey struct {
	workchain int32
	shard     uint64
}

// contains reports whether the shard holds the accounts that begin with prefix.
func (k shardKey) contains(workchain int32, prefix uint64) bool {
	low := k.shard & -k.shard
	return k.workchain == workchain && (k.shard^prefix)&(-low<<1) == 0
}

// depth of the shard: 0 for a whole workchain.
func (k shardKey) depth() int { return 63 - bits.TrailingZeros64(k.shard) }

type blockKey struct {
	shardKey
	seqno uint32
}

func keyOf(id *ton.BlockIDExt) blockKey {
	return blockKey{shardKey{id.Workchain, uint64(id.Shard)}, id.SeqNo}
}

func (k shardKey) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(k.workchain)^1<<31)
	return binary.BigEndian.AppendUint64(dst, k.shard)
}

func (k shardKey) key(kind byte) []byte { return k.append([]byte{kind}) }

func (k blockKey) key(kind byte) []byte {
	return binary.BigEndian.AppendUint32(k.shardKey.key(kind), k.seqno)
}

func mcKey(kind byte, seqno uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{kind}, seqno)
}

func workchainKey(kind byte, workchain int32) []byte {
	return binary.BigEndian.AppendUint32([]byte{kind}, uint32(workchain)^1<<31)
}

func ltKey(k shardKey, lt uint64) []byte {
	return binary.BigEndian.AppendUint64(k.key(kindLT), lt)
}

func utimeKey(k shardKey, utime, seqno uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(k.key(kindUtime), utime), seqno)
}

func transactionKey(workchain int32, account []byte, lt uint64) []byte {
	key := append(workchainKey(kindTransaction, workchain), account...)
	return binary.BigEndian.AppendUint64(key, lt)
}

// after is the first key that does not begin with prefix.
func after(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	for i := len(end) - 1; i >= 0; i-- {
		end[i]++
		if end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}
