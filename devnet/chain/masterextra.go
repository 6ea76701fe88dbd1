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

func (x *masterExtra) toCell() *cell.Cell {
	var flags uint64
	if x.creators != nil {
		flags = 1
	}
	info := cell.BeginCell().MustStoreUInt(flags, 16).MustStoreUInt(uint64(x.validatorHash), 32).
		MustStoreUInt(uint64(x.catchain), 32).MustStoreBoolBit(x.updated)
	x.blocks.store(info).MustStoreBoolBit(x.afterKey).MustStoreBoolBit(x.lastKey != nil)
	if x.lastKey != nil {
		storeBlkRef(info, *x.lastKey)
	}
	if x.creators != nil {
		info.MustStoreBuilder(x.creators.ToBuilder())
	}
	b := cell.BeginCell().MustStoreUInt(0xcc26, 16).MustStoreDict(shardTree(x.shards)).
		MustStoreSlice(x.configAddr[:], 256).MustStoreRef(x.config).MustStoreRef(info.EndCell())
	return storeCurrency(b, x.globalBalance).EndCell()
}

func parseMasterExtra(c *cell.Cell) (_ *masterExtra, err error) {
	defer rescue(&err)
	var raw tlb.McStateExtra
	if err := tlb.Parse(&raw, c); err != nil {
		return nil, fmt.Errorf("masterchain state extra: %w", err)
	}
	s := raw.Info.MustBeginParse()
	x := &masterExtra{
		shards: parseShards(raw.ShardHashes), configAddr: [32]byte(raw.ConfigParams.ConfigAddr),
		config: raw.ConfigParams.Config.Params.AsCell(), globalBalance: raw.GlobalBalance.Coins.Nano(),
	}
	flags := s.MustLoadUInt(16)
	x.validatorHash, x.catchain, x.updated = uint32(s.MustLoadUInt(32)), uint32(s.MustLoadUInt(32)), s.MustLoadBoolBit()
	x.blocks = loadAugmented(s, 32, oldBlocks{})
	x.afterKey = s.MustLoadBoolBit()
	if s.MustLoadBoolBit() {
		x.lastKey = &tlb.ExtBlkRef{}
		sure(x, tlb.LoadFromCell(x.lastKey, s))
	}
	if flags&1 != 0 {
		x.creators = s.MustToCell()
	}
	return x, nil
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
func (x *masterExtra) remember(block tlb.ExtBlkRef, key bool) {
	entry := change{bigEndian(uint64(block.SeqNo))[4:], storeBlkRef(cell.BeginCell().MustStoreBoolBit(key), block)}
	x.blocks = sure(x.blocks.update([]change{entry}))
}
