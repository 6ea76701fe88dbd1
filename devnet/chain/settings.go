package chain

import (
	"fmt"
	"hash/crc32"
	"math/big"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// settings are what collation needs of a config.
type settings struct {
	root     *cell.Cell // Hashmap 32 ^Cell
	prepared *tvm.PreparedBlockchainConfig

	globalID     int32
	version      tlb.GlobalVersion
	configAddr   [32]byte
	feeCollector [32]byte
	special      [][32]byte // whom ticks and tocks may go to, in order

	masterCreated, baseCreated *big.Int
	masterLimits, baseLimits   limits
	minSplit, maxSplit         uint
	baseZerostate              tlb.WorkchainDescrFields

	masterLifetime, shardLifetime uint32 // of validator groups
	validators                    []*tlb.ValidatorAddr
	simplex                       bool   // param 30 has a config for the masterchain
	consensusHash                 []byte // of param 29, part of what names a session
}

func readSettings(root *cell.Cell, o Options) (_ *settings, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("config %x: %w", root.Hash(), err)
		}
	}()
	defer rescue(&err)
	bc := tlb.BlockchainConfig{Root: root}
	fees := sure(bc.GetBlockCreateFees())
	s := &settings{
		root: root, prepared: sure(tvm.PrepareBlockchainConfig(root)), globalID: sure(bc.GetGlobalID()).GlobalID,
		version: sure(bc.GetGlobalVersion()), configAddr: [32]byte(sure(bc.GetConfigAddress())),
		feeCollector:  [32]byte(sure(bc.GetFeeCollectorAddress())),
		masterCreated: fees.MasterchainBlockFee.Nano(), baseCreated: fees.BasechainBlockFee.Nano(),
		masterLimits: limitsOf(sure(bc.GetBlockLimits(true))), baseLimits: limitsOf(sure(bc.GetBlockLimits(false))),
	}
	for _, kv := range sure(sure(bc.GetFundamentalSmartContractAddresses()).Addresses.LoadAll()) {
		s.special = append(s.special, [32]byte(kv.Key.MustLoadSlice(256)))
	}
	s.readBasechain(bc)
	s.readConsensus(bc)
	if o.MaxBlockGas != 0 {
		s.baseLimits.gas = [3]uint64{o.MaxBlockGas / 5, o.MaxBlockGas, 2 * o.MaxBlockGas}
	}
	if o.MaxBlockBytes != 0 {
		s.baseLimits.bytes = [3]uint64{o.MaxBlockBytes / 8, o.MaxBlockBytes, 2 * o.MaxBlockBytes}
	}
	set := sure(bc.GetCurrentValidators()).Validators
	list, ok := set.(tlb.ValidatorSetExt)
	if !ok {
		return nil, fmt.Errorf("param 34 is a %T", set)
	}
	for _, kv := range sure(list.List.LoadAll()) {
		v := &tlb.ValidatorAddr{}
		s.validators = append(s.validators, sure(v, tlb.LoadFromCell(v, kv.Value)))
	}
	return s, nil
}

func (s *settings) readBasechain(bc tlb.BlockchainConfig) {
	value := sure(sure(bc.GetWorkchains()).Workchains.LoadValueByUintKey(uint64(basechain)))
	var descr tlb.WorkchainDescr
	sure(value, tlb.LoadFromCell(&descr, value))
	switch d := descr.Descr.(type) {
	case tlb.WorkchainDescrV1:
		s.baseZerostate = d.WorkchainDescrFields
	case tlb.WorkchainDescrV2:
		s.baseZerostate = d.WorkchainDescrFields
	}
	s.minSplit, s.maxSplit = uint(s.baseZerostate.MinSplit), min(uint(s.baseZerostate.MaxSplit), maxSplit)
}

// readConsensus takes the new params that are missing for those of catchain, as
// nodes do.
func (s *settings) readConsensus(bc tlb.BlockchainConfig) {
	switch c := sure(bc.GetCatchainConfig()).Config.(type) {
	case tlb.CatchainConfigV1:
		s.masterLifetime, s.shardLifetime = c.McCatchainLifetime, c.ShardCatchainLifetime
	case tlb.CatchainConfigV2:
		s.masterLifetime, s.shardLifetime = c.McCatchainLifetime, c.ShardCatchainLifetime
	}
	s.consensusHash = make([]byte, 32)
	if param, err := bc.GetParam(tlb.ConfigParamConsensusConfig); err == nil {
		s.consensusHash = param.Hash()
	}
	param, err := bc.GetParam(tlb.ConfigParamNewConsensusConfig)
	if err != nil {
		return
	}
	var all tlb.NewConsensusConfigAll
	s.simplex = tlb.Parse(&all, param) == nil && all.Masterchain != nil
}

// validatorHash is gen_validator_list_hash_short: the CRC-32C of the validators
// that make a block and the number of their catchain.
func (s *settings) validatorHash(catchainSeqno uint32) uint32 {
	set := ton.ValidatorSetHashable{CCSeqno: catchainSeqno}
	for _, v := range s.validators {
		set.Validators = append(set.Validators, ton.ValidatorItemHashable{Key: v.PublicKey.Key, Weight: v.Weight, Addr: v.ADNLAddr})
	}
	return crc32.Checksum(sure(tl.Serialize(set, true)), crc32.MakeTable(crc32.Castagnoli))
}
