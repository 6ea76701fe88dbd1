package synthetic

import (
	"crypto/sha256"

	"tonscribe/schema/record"
)

// blockRef is what other blocks say about a block.
type blockRef struct {
	seqno    uint32
	endLT    uint64
	startLT  uint64
	rootHash [32]byte
	fileHash [32]byte
}

// placement says where in the chain a template becomes a block.
type placement struct {
	seqno    uint32
	globalID uint32
	utime    uint32
	// window is the logical time at which the block's window begins: a multiple
	// of 1<<windowBits.
	window     uint64
	windowBits int
	mask       [32]byte // XORed to account ids
	salt       uint64   // XORed to bodies of external messages
	randSeed   [32]byte
	prev       blockRef
	masterRef  blockRef // shard blocks
	shard      blockRef // masterchain blocks: the shard block that they commit
}

// last is the last transaction of an account, and what it left.
type last struct {
	lt      uint64
	hash    [32]byte
	state   [32]byte
	balance uint64
	status  record.AccountStatus
	visits  uint32 // of the account in blocks
}

// put makes the template the block of p and appends its bag of cells to dst.
// ledger holds the last transaction of every account by its number, and is
// brought up to date.
func (t *template) put(dst []byte, p *placement, ledger []last) ([]byte, blockRef) {
	low := uint64(1)<<p.windowBits - 1
	shift := p.window - t.startLT&^low
	t.putHeader(p, shift)
	if t.master {
		t.putShard(p)
	}
	t.putNumbers(p, shift)
	t.putKeys(p.mask)
	for _, s := range t.salts {
		data := t.nodes[s.node].data
		putBits(data, s.at, saltBits, bitsAt(data, s.at, saltBits)^t.salt^p.salt)
	}
	t.salt = p.salt
	t.hash(ledger, shift)
	start := len(dst)
	dst = t.bag(dst, t.index)
	return dst, blockRef{
		seqno: p.seqno, startLT: t.startLT + shift, endLT: t.endLT + shift,
		rootHash: t.nodes[0].hash, fileHash: sha256.Sum256(dst[start:]),
	}
}

func (t *template) putHeader(p *placement, shift uint64) {
	putBits(t.nodes[0].data, 32, 32, uint64(p.globalID))
	info := t.nodes[t.info].data
	putBits(info, infoSplits, 2, 0)
	putBits(info, infoSeqno, 32, uint64(p.seqno))
	putBits(info, infoVertSeqno, 32, 0)
	putBits(info, infoUtime, 32, uint64(p.utime))
	putBits(info, infoStartLT, 64, t.startLT+shift)
	putBits(info, infoEndLT, 64, t.endLT+shift)
	minRef := p.masterRef.seqno
	if t.master {
		minRef = p.prev.seqno
	}
	putBits(info, infoMinRef, 32, uint64(minRef))
	putBits(info, infoPrevKey, 32, 0)
	copyBits(t.nodes[t.extra].data, 32, p.randSeed[:], 0, 256)
	putRef(t.nodes[t.prev].data, &p.prev)
	if !t.master {
		putRef(t.nodes[t.masterRef].data, &p.masterRef)
	}
}

// putRef writes ext_blk_ref$_ end_lt:uint64 seq_no:uint32 root_hash file_hash.
func putRef(data []byte, r *blockRef) {
	putBits(data, 0, 64, r.endLT)
	putBits(data, 64, 32, uint64(r.seqno))
	copyBits(data, 96, r.rootHash[:], 0, 256)
	copyBits(data, 352, r.fileHash[:], 0, 256)
}

// putShard writes the leaf of ShardHashes: bt_leaf$0 and shard_descr#a or #b.
func (t *template) putShard(p *placement) {
	data := t.nodes[t.shardLeaf].data
	putBits(data, 5, 32, uint64(p.shard.seqno))
	putBits(data, 37, 32, uint64(p.seqno)) // reg_mc_seqno
	putBits(data, 69, 64, p.shard.startLT)
	putBits(data, 133, 64, p.shard.endLT)
	copyBits(data, 197, p.shard.rootHash[:], 0, 256)
	copyBits(data, 453, p.shard.fileHash[:], 0, 256)
	putBits(data, 709, 5, 0) // before_split … nx_cc_updated
	putBits(data, 749, 64, wholeShard)
	putBits(data, 813, 32, uint64(p.prev.seqno)) // min_ref_mc_seqno
	putBits(data, 845, 32, uint64(p.utime))
}

func (t *template) putNumbers(p *placement, shift uint64) {
	for _, n := range t.lts {
		putBits(t.nodes[n.node].data, n.at, 64, n.value+shift)
	}
	for _, n := range t.utimes {
		putBits(t.nodes[n.node].data, n.at, 32, uint64(uint32(n.value)+p.utime-t.genUtime))
	}
	for _, top := range t.tops {
		putBits(t.nodes[top.node].data, top.at, 64-p.windowBits, p.window>>p.windowBits)
	}
}

// putKeys re-keys accounts. Under XOR the dictionary of accounts keeps its
// shape: a branch changes sides where the bit that decides is flipped.
func (t *template) putKeys(mask [32]byte) {
	if t.mask == mask {
		return
	}
	var change [32]byte
	for i := range change {
		change[i] = mask[i] ^ t.mask[i]
	}
	for _, k := range t.keys {
		data := t.nodes[k.node].data
		for at, from, n := k.at, k.from, k.n; n > 0; {
			take := min(64, n)
			putBits(data, at, take, bitsAt(data, at, take)^bitsAt(change[:], from, take))
			at, from, n = at+take, from+take, n-take
		}
	}
	for _, f := range t.forks {
		if bitAt(change[:], f.bit) {
			n := &t.nodes[f.node]
			n.refs[0], n.refs[1] = n.refs[1], n.refs[0]
		}
	}
	t.mask = mask
}

// hash brings all hashes up to date and chains the accounts' transactions; fresh
// counts the accounts that had none.
func (t *template) hash(ledger []last, shift uint64) {
	next := 0
	t.fresh = 0
	t.putStates(ledger, shift)
	for _, i := range t.steps {
		if s := t.leaves[i]; s != nil {
			t.putLeaf(s, ledger)
		}
		if i == t.update {
			// After the type: the hashes of both states, then their depths.
			copyBits(t.nodes[i].data, 8+256, t.nodes[t.newState].hash[:], 0, 256)
		}
		if next == len(t.transactions) || t.transactions[next].node != i {
			t.rehash(i)
			continue
		}
		tx := &t.transactions[next]
		before, data := &ledger[tx.known], t.nodes[i].data
		if before.lt == 0 {
			t.fresh++
		}
		copyBits(data, transactionPrevHash, before.hash[:], 0, 256)
		putBits(data, transactionPrevLT, 64, before.lt)
		t.rehash(i)
		before.lt, before.hash = tx.lt+shift, t.nodes[i].hash
		next++
	}
}
