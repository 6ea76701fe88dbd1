package chain

import (
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// masterExtra is McStateExtra (block.tlb).
type masterExtra struct {
	shards     []*shardDescr
	configAddr [32]byte
	config     *cell.Cell // Hashmap 32 ^Cell

	// The validators of the next block.
	validatorHash uint32
	catchain      uint32
	updated       bool // nx_cc_updated

	blocks   augmented // OldMcBlocksInfo, by seqno
	afterKey bool      // the state is that of a key block
	lastKey  *tlb.ExtBlkRef
	creators *cell.Cell // BlockCreateStats, nil in the zerostate

	globalBalance *big.Int
}

func (x *masterExtra) toCell() (*cell.Cell, error) {
	shards, err := shardTree(x.shards)
	if err != nil {
		return nil, err
	}
	info, err := x.infoCell()
	if err != nil {
		return nil, err
	}
	b := cell.BeginCell().MustStoreUInt(0xcc26, 16)
	if err := b.StoreDict(shards); err != nil {
		return nil, err
	}
	b.MustStoreSlice(x.configAddr[:], 256).MustStoreRef(x.config).MustStoreRef(info)
	if err := storeCurrency(b, x.globalBalance); err != nil {
		return nil, err
	}
	return b.EndCell(), nil
}

func (x *masterExtra) infoCell() (*cell.Cell, error) {
	b := cell.BeginCell()
	var flags uint64
	if x.creators != nil {
		flags = 1
	}
	b.MustStoreUInt(flags, 16).MustStoreUInt(uint64(x.validatorHash), 32).MustStoreUInt(uint64(x.catchain), 32).MustStoreBoolBit(x.updated)
	if err := x.blocks.store(b); err != nil {
		return nil, err
	}
	b.MustStoreBoolBit(x.afterKey).MustStoreBoolBit(x.lastKey != nil)
	if x.lastKey != nil {
		storeBlkRef(b, *x.lastKey)
	}
	if x.creators != nil {
		if err := b.StoreBuilder(x.creators.ToBuilder()); err != nil {
			return nil, err
		}
	}
	return b.EndCell(), nil
}

func parseMasterExtra(c *cell.Cell) (*masterExtra, error) {
	x, err := readMasterExtra(c)
	if err != nil {
		return nil, fmt.Errorf("masterchain state extra: %w", err)
	}
	return x, nil
}

func readMasterExtra(c *cell.Cell) (*masterExtra, error) {
	s, err := c.BeginParse()
	if err != nil {
		return nil, err
	}
	tag, err := s.LoadUInt(16)
	if err != nil {
		return nil, err
	}
	if tag != 0xcc26 {
		return nil, fmt.Errorf("tag %04x", tag)
	}
	x := &masterExtra{}
	hashes, err := s.LoadDict(32)
	if err != nil {
		return nil, err
	}
	if x.shards, err = parseShards(hashes); err != nil {
		return nil, err
	}
	addr, err := s.LoadSlice(256)
	if err != nil {
		return nil, err
	}
	x.configAddr = [32]byte(addr)
	if x.config, err = s.LoadRefCell(); err != nil {
		return nil, err
	}
	info, err := s.LoadRef()
	if err != nil {
		return nil, err
	}
	if err := x.readInfo(info); err != nil {
		return nil, err
	}
	x.globalBalance, err = loadCurrency(s)
	return x, err
}

func (x *masterExtra) readInfo(s *cell.Slice) error {
	var err error
	flags := s.MustLoadUInt(16)
	x.validatorHash, x.catchain, x.updated = uint32(s.MustLoadUInt(32)), uint32(s.MustLoadUInt(32)), s.MustLoadBoolBit()
	if x.blocks, err = loadAugmented(s, 32, oldBlocks{}); err != nil {
		return err
	}
	x.afterKey = s.MustLoadBoolBit()
	if s.MustLoadBoolBit() {
		x.lastKey = &tlb.ExtBlkRef{}
		if err := tlb.LoadFromCell(x.lastKey, s); err != nil {
			return err
		}
	}
	if flags&1 != 0 {
		x.creators, err = s.ToCell()
	}
	return err
}

// oldBlocks is the augmentation of OldMcBlocksInfo: KeyMaxLt, whether there is
// a key block among the blocks, and the highest lt.
type oldBlocks struct{}

const keyMaxLTBits = 65

func (oldBlocks) SkipExtra(s *cell.Slice) error { return s.SkipBits(keyMaxLTBits) }

func (oldBlocks) EmptyExtra() (*cell.Cell, error) {
	return cell.BeginCell().MustStoreBoolBit(false).MustStoreUInt(0, 64).EndCell(), nil
}

// LeafExtra is the beginning of KeyExtBlkRef.
func (oldBlocks) LeafExtra(value *cell.Slice) (*cell.Cell, error) {
	bits, err := value.Copy().LoadSlice(keyMaxLTBits)
	if err != nil {
		return nil, err
	}
	return cell.BeginCell().MustStoreSlice(bits, keyMaxLTBits).EndCell(), nil
}

func (oldBlocks) CombineExtra(left, right *cell.Slice) (*cell.Cell, error) {
	leftKey, rightKey := left.MustLoadBoolBit(), right.MustLoadBoolBit()
	return cell.BeginCell().MustStoreBoolBit(leftKey || rightKey).
		MustStoreUInt(max(left.MustLoadUInt(64), right.MustLoadUInt(64)), 64).EndCell(), nil
}

// remember makes a masterchain block one of the old ones.
func (x *masterExtra) remember(block tlb.ExtBlkRef, key bool) error {
	b := cell.BeginCell().MustStoreBoolBit(key)
	storeBlkRef(b, block)
	var err error
	x.blocks, err = x.blocks.update([]change{{bigEndian(uint64(block.SeqNo))[4:], b}})
	return err
}
