// Package decode turns the bytes of a TON block into records.
//
// In: the BoC of a block, or of a single transaction, as a node serves it.
// Out: a BlockInfo for who follows the chain, or the records of schema/record
// for who stores it. The package is a library: it knows no Kafka, no ClickHouse
// and no configuration, keeps nothing between blocks but scratch memory, and
// never panics, whatever the bytes are.
//
// Root hash and file hash are computed from the bytes, so a caller that
// compares them with an id it trusts can trust everything else.
package decode

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"

	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// ErrFormat is wrapped by errors about cells that do not hold what block.tlb
// says. Errors about the bag of cells wrap those of package cell.
var ErrFormat = errors.New("not as block.tlb says")

// A block may be written as so many bytes of BoCs and cells: outputBase and
// outputFactor for each of its own, up to maxOutput. The same cells can be part of
// many messages and accounts, so the size of a block alone limits nothing. Since a
// message is sent once and received once, transactions are at most twice that. What
// goes beyond is left out, but for what has alwaysOutput at most: who makes a block
// that large hides what is large.
const (
	outputBase   = 64 << 20
	outputFactor = 64
	maxOutput    = 256 << 20
	alwaysOutput = 4 << 10
)

func outputLimit(size int) int { return min(outputBase+outputFactor*size, maxOutput) }

// room is how many bytes one more BoC, or the cells of one more account, may have.
func (d *Decoder) room() int { return max(d.output, alwaysOutput) }

// Result is a decoded block: its header, its transactions by (lt, account), and
// what they do to accounts, by account id. A message that one transaction sends
// and another receives in the same block is one *record.Message in both, and all
// transactions have one BlockRef.
type Result struct {
	Block        *record.Block
	Transactions []*record.Transaction
	Changes      []*Change
	// MessageCells are records of the cells of messages that accounts received
	// whose data is not whole: an account may keep a part of a message, which the
	// state update leaves out because the old state has it in its queue.
	MessageCells []CellRecord
	// Config is the BoC of the chain's parameters (Hashmap 32 ^Cell) that a key
	// block brings, nil in others.
	Config []byte
}

// Decoder decodes blocks one after the other and reuses its scratch memory.
// Results do not refer to that memory or to the input. Not for use by several
// goroutines; the zero Decoder is ready.
type Decoder struct {
	bag      cell.Bag
	writer   cell.Writer
	builder  cell.Builder
	recorder cell.Recorder
	memory   memory

	version  uint32 // gen_software version of the block
	shard    *record.BlockId
	ref      *record.BlockRef
	mcSeqno  uint32
	messages []*record.Message // by index of the message's cell
	ends     []end             // of which a transaction was met, by the same
	list     []*record.Transaction
	roots    []cell.Cell // of list
	touched  []touched
	before   []leaf // accounts of the old state
	after    []leaf // accounts of the new state
	records  []CellRecord
	received []CellRecord // cells of messages
	toHash   []cell.Cell
	budget   int // dictionary nodes that may still be visited
	output   int // bytes of BoCs that may still be written
}

// Block decodes a block that the masterchain block mcSeqno commits.
func Block(boc []byte, mcSeqno uint32) (*Result, error) {
	d := spare.Get().(*Decoder)
	defer spare.Put(d)
	return d.Block(boc, mcSeqno)
}

// Block is like the function Block.
func (d *Decoder) Block(boc []byte, mcSeqno uint32) (*Result, error) {
	defer d.forget()
	root, err := d.open(boc, d.bag.Parse)
	if err != nil {
		return nil, fmt.Errorf("block: %w", err)
	}
	h, err := readHeader(root)
	if err != nil {
		return nil, fmt.Errorf("block: %w", err)
	}
	h.identify(root.Hash()[:], sha256.Sum256(boc))
	if err := d.stateUpdate(h.update); err != nil {
		return nil, fmt.Errorf("block %s: state update: %w", name(h.block.Id), err)
	}
	return d.transactions(h, mcSeqno)
}

// Known is Block for bytes that were verified before: it only compares the file
// hash with that of the id and takes the root hash from there, which leaves most
// of the hashing out.
func (d *Decoder) Known(id *record.BlockId, boc []byte, mcSeqno uint32) (*Result, error) {
	defer d.forget()
	file := sha256.Sum256(boc)
	if !bytes.Equal(file[:], id.FileHash) || len(id.RootHash) != 32 {
		return nil, fmt.Errorf("block %s: %w: file hash %x", name(id), cell.ErrHash, file)
	}
	root, err := d.open(boc, d.bag.Read)
	if err != nil {
		return nil, fmt.Errorf("block %s: %w", name(id), err)
	}
	h, err := readHeader(root)
	if err != nil {
		return nil, fmt.Errorf("block %s: %w", name(id), err)
	}
	if got := h.block.Id; got.Workchain != id.Workchain || got.Shard != id.Shard || got.Seqno != id.Seqno {
		return nil, fmt.Errorf("block %s: %w: it is %s", name(id), ErrFormat, name(got))
	}
	if err := d.stateUpdate(h.update); err != nil {
		return nil, fmt.Errorf("block %s: state update: %w", name(id), err)
	}
	if err := d.hashUsed(h); err != nil {
		return nil, fmt.Errorf("block %s: %w", name(id), err)
	}
	h.identify(id.RootHash, file)
	return d.transactions(h, mcSeqno)
}

// hashUsed hashes what transactions needs the hashes of: the account blocks, and
// the accounts that the state update shows.
func (d *Decoder) hashUsed(h *header) error {
	d.toHash = append(d.toHash[:0], h.accounts)
	if h.config.Valid() {
		d.toHash = append(d.toHash, h.config)
	}
	for _, list := range [][]leaf{d.before, d.after} {
		for _, l := range list {
			d.toHash = append(d.toHash, l.account)
		}
	}
	return d.bag.Hash(d.toHash...)
}

// transactions decodes the transactions below a header.
func (d *Decoder) transactions(h *header, mcSeqno uint32) (*Result, error) {
	block := h.block
	block.McSeqno = mcSeqno
	d.version, d.mcSeqno, d.shard = block.GenSoftwareVersion, mcSeqno, block.Id
	d.ref = &record.BlockRef{Workchain: block.Id.Workchain, Shard: block.Id.Shard, Seqno: block.Id.Seqno}
	config := d.whole(h.config, MaxConfigBytes) // before what may take its room
	if err := d.accountBlocks(h.accounts); err != nil {
		return nil, fmt.Errorf("block %s: %w", name(block.Id), err)
	}
	if h.custom.Valid() {
		shards, err := readShards(h.custom, d.bag.Len())
		if err != nil {
			return nil, fmt.Errorf("block %s: shards: %w", name(block.Id), err)
		}
		for _, s := range shards {
			block.Shards = append(block.Shards, &record.BlockId{Workchain: s.ID.Workchain, Shard: s.ID.Shard, Seqno: s.ID.Seqno})
		}
	}
	changes := d.changes()
	list := slices.Clone(d.list)
	slices.SortFunc(list, func(x, y *record.Transaction) int {
		if c := cmp.Compare(x.Lt, y.Lt); c != 0 {
			return c
		}
		return bytes.Compare(x.Account[4:], y.Account[4:])
	})
	block.TxCount = uint32(len(list))
	return &Result{Block: block, Transactions: list, Changes: changes, MessageCells: slices.Clone(d.received), Config: config}, nil
}

// Transaction decodes the BoC of a single transaction, taking ihr_fee for what
// it was before global version 12. Its workchain is that of its messages, 0
// without any; mc_seqno and block are unset.
func Transaction(boc []byte) (*record.Transaction, error) {
	d := spare.Get().(*Decoder)
	defer spare.Put(d)
	return d.Transaction(boc, 0)
}

// Transaction is like the function Transaction for a transaction of a block
// with the given gen_software version, which decides between ihr_fee and
// extra_flags.
func (d *Decoder) Transaction(boc []byte, version uint32) (*record.Transaction, error) {
	defer d.forget()
	root, err := d.open(boc, d.bag.Parse)
	if err != nil {
		return nil, fmt.Errorf("transaction: %w", err)
	}
	d.version, d.mcSeqno, d.shard, d.ref = version, 0, nil, nil
	t, err := d.transaction(root, 0)
	if err != nil {
		return nil, fmt.Errorf("transaction: %w", err)
	}
	setWorkchain(t)
	return t, nil
}

// spare are the Decoders of the functions Block, Header and Transaction.
var spare = sync.Pool{New: func() any { return new(Decoder) }}

// open reads the BoC and sets what lasts for one input.
func (d *Decoder) open(boc []byte, read func([]byte) error) (cell.Cell, error) {
	if err := read(boc); err != nil {
		return cell.Cell{}, err
	}
	d.messages = slices.Grow(d.messages[:0], d.bag.Len())[:d.bag.Len()]
	d.ends = slices.Grow(d.ends[:0], d.bag.Len())[:d.bag.Len()]
	clear(d.ends)
	d.budget = 16*d.bag.Len() + 4096
	d.output = outputLimit(len(boc))
	return d.bag.Single()
}

// forget drops the references to records, which belong to the caller.
func (d *Decoder) forget() {
	clear(d.list)
	clear(d.messages)
	clear(d.records)
	clear(d.received)
	d.roots, d.received = d.roots[:0], d.received[:0]
	d.list, d.messages, d.records = d.list[:0], d.messages[:0], d.records[:0]
	d.touched, d.before, d.after = d.touched[:0], d.before[:0], d.after[:0]
	d.shard, d.ref = nil, nil
}

// setWorkchain takes the workchain of an account from the messages it got or
// sent.
func setWorkchain(t *record.Transaction) {
	from := func(address []byte) bool {
		if len(address) != len(t.Account) || !bytes.Equal(address[4:], t.Account[4:]) {
			return false
		}
		copy(t.Account, address[:4])
		return true
	}
	if t.InMsg != nil && from(t.InMsg.Destination) {
		return
	}
	for _, m := range t.OutMsgs {
		if from(m.Source) {
			return
		}
	}
}

// name is a block id for an error message.
func name(id *record.BlockId) string {
	return fmt.Sprintf("(%d,%016x,%d)", id.Workchain, id.Shard, id.Seqno)
}
