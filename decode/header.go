package decode

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// Masterchain is the workchain of the masterchain, whose only shard is
// FullShard.
const (
	Masterchain = -1
	FullShard   = uint64(1) << 63
)

// BlockInfo is what following the chain needs of a block.
type BlockInfo struct {
	ID           *record.BlockId
	Prev         []*record.BlockId // two after a merge
	MasterRef    *record.BlockId   // nil for masterchain blocks
	AfterSplit   bool
	BeforeSplit  bool
	AfterMerge   bool
	KeyBlock     bool
	GlobalID     int32
	GenUtime     uint32
	StartLT      uint64
	EndLT        uint64
	MinRefMC     uint32 // min_ref_mc_seqno
	PrevKeyBlock uint32 // prev_key_block_seqno
	// GenSoftware is the version of gen_software, 0 when the block has none.
	GenSoftware uint32
	// Shards are the newest blocks of all shards by (workchain, shard); only
	// masterchain blocks have them.
	Shards []ShardDescr
}

// Header reads a block's header, without its transactions. Like Block it
// verifies every cell.
func Header(boc []byte) (*BlockInfo, error) {
	return HeaderOf(boc, sha256.Sum256(boc))
}

// HeaderOf is Header of bytes whose file hash, their SHA-256, is known.
func HeaderOf(boc []byte, file [32]byte) (*BlockInfo, error) {
	d := spare.Get().(*Decoder)
	defer spare.Put(d)
	return d.header(boc, file)
}

// Header is like the function Header.
func (d *Decoder) Header(boc []byte) (*BlockInfo, error) { return d.header(boc, sha256.Sum256(boc)) }

func (d *Decoder) header(boc []byte, file [32]byte) (*BlockInfo, error) {
	defer d.forget()
	root, err := d.open(boc, d.bag.Parse)
	if err != nil {
		return nil, fmt.Errorf("block: %w", err)
	}
	h, err := readHeader(root)
	if err != nil {
		return nil, fmt.Errorf("block: %w", err)
	}
	h.identify(root.Hash()[:], file)
	info := h.info()
	if h.custom.Valid() {
		if info.Shards, err = readShards(h.custom, d.bag.Len()); err != nil {
			return nil, fmt.Errorf("block %s: shards: %w", name(info.ID), err)
		}
	}
	return info, nil
}

// header is the record of a block together with what the record does not hold.
type header struct {
	block     *record.Block
	masterRef *record.BlockId
	update    cell.Cell // MERKLE_UPDATE ShardState
	accounts  cell.Cell // ShardAccountBlocks
	custom    cell.Cell // McBlockExtra, not valid outside of the masterchain
	config    cell.Cell // Hashmap 32 ^Cell of a key block, not valid in others
}

func (h *header) info() *BlockInfo {
	b := h.block
	return &BlockInfo{
		ID: b.Id, Prev: b.PrevBlocks, MasterRef: h.masterRef,
		AfterSplit: b.AfterSplit, BeforeSplit: b.BeforeSplit, AfterMerge: b.AfterMerge,
		KeyBlock: b.KeyBlock, GlobalID: b.GlobalId, GenUtime: b.GenUtime,
		StartLT: b.StartLt, EndLT: b.EndLt, MinRefMC: b.MinRefMcSeqno,
		PrevKeyBlock: b.PrevKeyBlockSeqno, GenSoftware: b.GenSoftwareVersion,
	}
}

// readHeader reads block#11ef55aa with its BlockInfo and the fixed part of its
// BlockExtra.
func readHeader(root cell.Cell) (*header, error) {
	s := root.Slice()
	if tag := s.Uint(32); tag != 0x11ef55aa {
		return nil, fmt.Errorf("%w: block tag %08x", ErrFormat, tag)
	}
	h := &header{block: new(record.Block)}
	h.block.GlobalId = int32(s.Uint(32))
	info := s.Next()
	s.Ref() // value_flow
	h.update = s.Ref()
	extra := s.Next()
	if err := h.readInfo(&info); err != nil {
		return nil, fmt.Errorf("info: %w", err)
	}
	if err := h.readExtra(&extra); err != nil {
		return nil, fmt.Errorf("extra: %w", err)
	}
	if s.Failed() {
		return nil, s.Err()
	}
	if h.custom.Valid() {
		if err := h.readConfig(h.custom.Slice()); err != nil {
			return nil, fmt.Errorf("config: %w", err)
		}
	}
	return h, nil
}

// readConfig reads masterchain_block_extra#cca5 up to the ConfigParams of a key
// block.
func (h *header) readConfig(s cell.Slice) error {
	s.Skip(16) // tag
	if !s.Bool() {
		return s.Err()
	}
	if s.Bool() {
		s.Ref() // shard_hashes
	}
	if s.Bool() {
		s.Ref() // shard_fees
	}
	skipCurrencies(&s) // of the dictionary's root: fees
	skipCurrencies(&s) // create
	s.Ref()            // signatures and special messages
	s.Skip(256)        // config_addr
	h.config = s.Ref()
	return s.Err()
}

// identify completes the block's id.
func (h *header) identify(root []byte, file [32]byte) {
	h.block.Id.RootHash = bytes.Clone(root)
	h.block.Id.FileHash = bytes.Clone(file[:])
}

// readInfo reads block_info#9bc7a987.
func (h *header) readInfo(s *cell.Slice) error {
	if tag := s.Uint(32); tag != 0x9bc7a987 {
		return fmt.Errorf("%w: tag %08x", ErrFormat, tag)
	}
	b := h.block
	b.Version = uint32(s.Uint(32))
	notMaster := s.Bool()
	b.AfterMerge, b.BeforeSplit, b.AfterSplit = s.Bool(), s.Bool(), s.Bool()
	b.WantSplit, b.WantMerge, b.KeyBlock, b.VertSeqnoIncr = s.Bool(), s.Bool(), s.Bool(), s.Bool()
	b.Flags = uint32(s.Uint(8))
	b.Id = &record.BlockId{Seqno: uint32(s.Uint(32))}
	b.VertSeqno = uint32(s.Uint(32))
	if err := readShardIdent(s, b.Id); err != nil {
		return err
	}
	b.GenUtime = uint32(s.Uint(32))
	b.StartLt, b.EndLt = s.Uint(64), s.Uint(64)
	b.ValidatorListHashShort = int32(s.Uint(32))
	b.GenCatchainSeqno = uint32(s.Uint(32))
	b.MinRefMcSeqno, b.PrevKeyBlockSeqno = uint32(s.Uint(32)), uint32(s.Uint(32))
	if b.Flags&1 != 0 {
		if tag := s.Uint(8); tag != 0xc4 {
			return fmt.Errorf("%w: gen_software tag %02x", ErrFormat, tag)
		}
		b.GenSoftwareVersion, b.GenSoftwareCapabilities = uint32(s.Uint(32)), s.Uint(64)
	}
	if notMaster == (b.Id.Workchain == Masterchain) {
		return fmt.Errorf("%w: not_master %t in workchain %d", ErrFormat, notMaster, b.Id.Workchain)
	}
	if notMaster {
		master := s.Next()
		h.masterRef = readBlockRef(&master, Masterchain, FullShard)
		b.MasterRefSeqno = h.masterRef.Seqno
		if master.Failed() {
			return fmt.Errorf("master_ref: %w", master.Err())
		}
	}
	prev := s.Next()
	if err := h.readPrev(&prev); err != nil {
		return fmt.Errorf("prev_ref: %w", err)
	}
	return s.Err()
}

// readShardIdent reads shard_ident$00 into the id, with the tag bit set.
func readShardIdent(s *cell.Slice, id *record.BlockId) error {
	tag, length := s.Uint(2), s.Uint(6)
	id.Workchain = int32(s.Uint(32))
	prefix := s.Uint(64)
	if tag != 0 || length > 60 || prefix<<length != 0 {
		return fmt.Errorf("%w: shard %016x with %d bits", ErrFormat, prefix, length)
	}
	id.Shard = prefix | FullShard>>length
	return nil
}

// readPrev reads BlkPrevInfo and names the shards the previous blocks are of.
func (h *header) readPrev(s *cell.Slice) error {
	b := h.block
	id := b.Id
	half := id.Shard & -id.Shard
	switch {
	case b.AfterMerge:
		left, right := s.Next(), s.Next()
		b.PrevBlocks = []*record.BlockId{
			readBlockRef(&left, id.Workchain, id.Shard-half>>1),
			readBlockRef(&right, id.Workchain, id.Shard+half>>1),
		}
		if left.Failed() || right.Failed() {
			return fmt.Errorf("%w: not two blocks after a merge", ErrFormat)
		}
	case b.AfterSplit:
		if id.Shard == FullShard {
			return fmt.Errorf("%w: the whole workchain after a split", ErrFormat)
		}
		b.PrevBlocks = []*record.BlockId{readBlockRef(s, id.Workchain, id.Shard-half|half<<1)}
	default:
		b.PrevBlocks = []*record.BlockId{readBlockRef(s, id.Workchain, id.Shard)}
	}
	return s.Err()
}

// readBlockRef reads ext_blk_ref.
func readBlockRef(s *cell.Slice, workchain int32, shard uint64) *record.BlockId {
	s.Skip(64) // end_lt
	id := &record.BlockId{Workchain: workchain, Shard: shard, Seqno: uint32(s.Uint(32))}
	id.RootHash, id.FileHash = make([]byte, 32), make([]byte, 32)
	s.Read(id.RootHash)
	s.Read(id.FileHash)
	return id
}

// readExtra reads block_extra#4a33f6fd.
func (h *header) readExtra(s *cell.Slice) error {
	if tag := s.Uint(32); tag != 0x4a33f6fd {
		return fmt.Errorf("%w: tag %08x", ErrFormat, tag)
	}
	s.Ref()
	s.Ref()
	h.accounts = s.Ref()
	h.block.RandSeed, h.block.CreatedBy = make([]byte, 32), make([]byte, 32)
	s.Read(h.block.RandSeed)
	s.Read(h.block.CreatedBy)
	if s.Bool() {
		h.custom = s.Ref()
	}
	if !s.Failed() && h.custom.Valid() != (h.block.Id.Workchain == Masterchain) {
		return fmt.Errorf("%w: masterchain extra in workchain %d", ErrFormat, h.block.Id.Workchain)
	}
	return s.Err()
}
