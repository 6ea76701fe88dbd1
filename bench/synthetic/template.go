package synthetic

import (
	"fmt"
	"math/bits"
	"sort"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// template is a real block and the places in it that are written anew for every
// block made of it.
type template struct {
	*graph
	name       string
	master     bool
	genUtime   uint32
	startLT    uint64
	endLT      uint64
	windowBits int // the logical times of its transactions differ only in these low bits
	messages   int

	info, extra, prev, masterRef, shardLeaf int32

	lts          []numberPlace // 64 bits
	utimes       []numberPlace // 32 bits
	tops         []place       // the high bits that all logical times of the block share
	keys         []keyPlace
	salts        []place // 64 bits that make an external message unlike its copies
	forks        []forkPlace
	transactions []transactionPlace
	states       []statePlace
	leaves       map[int32]*statePlace // by node
	update       int32
	newState     int32

	// mask and salt say what the places hold now.
	mask  [32]byte
	salt  uint64
	fresh int // accounts whose first transaction was in the last block

	read  map[int32]bool // messages seen
	index []int32
}

type place struct {
	node int32
	at   int
}

type numberPlace struct {
	place
	value uint64
}

// keyPlace is n bits of an account id, from its bit from on.
type keyPlace struct {
	place
	from, n int
}

// forkPlace is a fork in the dictionary of accounts: which side a branch is on
// depends on a bit of the key.
type forkPlace struct {
	node int32
	bit  int
}

// transactionPlace is a transaction. They are hashed in the order of logical
// time: the next one of an account names the hash of the one before.
type transactionPlace struct {
	node    int32
	account [32]byte
	lt      uint64
	// known is the account's number in the ledger.
	known int
	flow  flow
}

const wholeShard = uint64(1) << 63

// readTemplate finds the places of a block. An error that is errTemplate says
// that the block is fine, but of the wrong shape.
func readTemplate(name string, boc []byte) (*template, error) {
	root, err := cell.FromBOC(boc)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if root.RefsNum() != 4 || root.BitsSize() != 64 {
		return nil, fmt.Errorf("%s: %w: not a block", name, errTemplate)
	}
	g, err := newGraph(root)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t := &template{graph: g, name: name, read: map[int32]bool{}}
	if err := t.readBlock(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	sort.SliceStable(t.transactions, func(i, j int) bool { return t.transactions[i].lt < t.transactions[j].lt })
	if err := t.readStates(boc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t.leaves = t.leafPlaces()
	first := t.stateNodes()
	for _, tx := range t.transactions {
		first = append(first, tx.node)
	}
	t.finish(first)
	t.index = make([]int32, len(t.nodes))
	t.read = nil
	return t, nil
}

func (t *template) readBlock() (err error) {
	defer func() { // a template is a local file that the user chose; its shape is checked by reading it
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errTemplate, r)
		}
	}()
	t.info, t.extra = t.nodes[0].refs[0], t.nodes[0].refs[3]
	if err := t.readInfo(); err != nil {
		return err
	}
	for _, i := range []int32{0, t.info, t.extra, t.prev} {
		t.nodes[i].dirty = true
	}
	if t.master {
		return t.readMaster()
	}
	t.nodes[t.masterRef].dirty = true
	return t.readAccounts()
}

// Where the fields of BlockInfo are, from its first bit on (block.tlb).
const (
	infoNotMaster  = 64
	infoAfterMerge = 65
	infoSplits     = 66 // before_split, after_split
	infoKeyBlock   = 70
	infoVertIncr   = 71
	infoSeqno      = 80
	infoVertSeqno  = 112
	infoShard      = 144
	infoUtime      = 248
	infoStartLT    = 280
	infoEndLT      = 344
	infoMinRef     = 472
	infoPrevKey    = 504
)

func (t *template) readInfo() error {
	n := &t.nodes[t.info]
	t.master = !bitAt(n.data, infoNotMaster)
	workchain, prefixBits := int32(bitsAt(n.data, infoShard+8, 32)), bitsAt(n.data, infoShard+2, 6)
	switch {
	case bitAt(n.data, infoAfterMerge), bitAt(n.data, infoVertIncr):
		return fmt.Errorf("%w: two parents", errTemplate)
	case prefixBits != 0:
		return fmt.Errorf("%w: part of a split shard", errTemplate)
	case t.master && bitAt(n.data, infoKeyBlock):
		return fmt.Errorf("%w: key block", errTemplate)
	case !t.master && workchain != 0:
		return fmt.Errorf("%w: workchain %d", errTemplate, workchain)
	}
	t.startLT, t.endLT = bitsAt(n.data, infoStartLT, 64), bitsAt(n.data, infoEndLT, 64)
	t.genUtime = uint32(bitsAt(n.data, infoUtime, 32))
	t.windowBits = bits.Len64(t.startLT ^ t.endLT)
	t.prev = n.refs[0]
	if !t.master {
		t.masterRef, t.prev = n.refs[0], n.refs[1]
	}
	return nil
}

// readMaster finds the only leaf of ShardHashes in McBlockExtra.
func (t *template) readMaster() error {
	extra := &t.nodes[t.extra]
	if extra.refCount() != 4 {
		return fmt.Errorf("%w: masterchain block without McBlockExtra", errTemplate)
	}
	mc := &t.nodes[extra.refs[3]]
	if !bitAt(mc.data, 17) {
		return fmt.Errorf("%w: no shards", errTemplate)
	}
	workchains := &t.nodes[mc.refs[0]]
	l := readLabel(workchains.data, 0, 32)
	if l.size != 32 || workchains.refCount() != 1 {
		return fmt.Errorf("%w: several workchains", errTemplate)
	}
	t.shardLeaf = workchains.refs[0]
	if leaf := &t.nodes[t.shardLeaf]; bitAt(leaf.data, 0) {
		return fmt.Errorf("%w: several shards", errTemplate)
	}
	t.nodes[t.shardLeaf].dirty = true
	return t.readAccounts()
}
