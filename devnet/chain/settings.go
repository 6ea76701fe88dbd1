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

func readSettings(root *cell.Cell, o Options) (*settings, error) {
	s := &settings{root: root}
	bc := tlb.BlockchainConfig{Root: root}
	var err error
	if s.prepared, err = tvm.PrepareBlockchainConfig(root); err != nil {
		return nil, err
	}
	for _, read := range []func(tlb.BlockchainConfig) error{
		s.readNames, s.readSpecial, s.readCreated, s.readLimits, s.readWorkchains, s.readValidators,
	} {
		if err := read(bc); err != nil {
			return nil, fmt.Errorf("config %x: %w", root.Hash(), err)
		}
	}
	if o.MaxBlockGas != 0 {
		s.baseLimits.gas = [3]uint64{o.MaxBlockGas / 5, o.MaxBlockGas, 2 * o.MaxBlockGas}
	}
	if o.MaxBlockBytes != 0 {
		s.baseLimits.bytes = [3]uint64{o.MaxBlockBytes / 8, o.MaxBlockBytes, 2 * o.MaxBlockBytes}
	}
	return s, nil
}

func (s *settings) readNames(bc tlb.BlockchainConfig) error {
	id, err := bc.GetGlobalID()
	if err != nil {
		return err
	}
	s.globalID = id.GlobalID
	if s.version, err = bc.GetGlobalVersion(); err != nil {
		return err
	}
	config, err := bc.GetConfigAddress()
	if err != nil {
		return err
	}
	collector, err := bc.GetFeeCollectorAddress()
	if err != nil {
		return err
	}
	s.configAddr, s.feeCollector = [32]byte(config), [32]byte(collector)
	return nil
}

func (s *settings) readSpecial(bc tlb.BlockchainConfig) error {
	list, err := bc.GetFundamentalSmartContractAddresses()
	if err != nil {
		return err
	}
	entries, err := list.Addresses.LoadAll()
	for _, kv := range entries {
		s.special = append(s.special, [32]byte(kv.Key.MustLoadSlice(256)))
	}
	return err
}

func (s *settings) readCreated(bc tlb.BlockchainConfig) error {
	fees, err := bc.GetBlockCreateFees()
	if err != nil {
		return err
	}
	s.masterCreated, s.baseCreated = fees.MasterchainBlockFee.Nano(), fees.BasechainBlockFee.Nano()
	return nil
}

func (s *settings) readLimits(bc tlb.BlockchainConfig) error {
	for master, to := range map[bool]*limits{true: &s.masterLimits, false: &s.baseLimits} {
		b, err := bc.GetBlockLimits(master)
		if err != nil {
			return err
		}
		if *to, err = limitsOf(b); err != nil {
			return err
		}
	}
	return nil
}

func (s *settings) readWorkchains(bc tlb.BlockchainConfig) error {
	all, err := bc.GetWorkchains()
	if err != nil {
		return err
	}
	value, err := all.Workchains.LoadValueByUintKey(uint64(basechain))
	if err != nil {
		return fmt.Errorf("config param 12: %w", err)
	}
	var descr tlb.WorkchainDescr
	if err := tlb.LoadFromCell(&descr, value); err != nil {
		return fmt.Errorf("config param 12: %w", err)
	}
	switch d := descr.Descr.(type) {
	case tlb.WorkchainDescrV1:
		s.baseZerostate = d.WorkchainDescrFields
	case tlb.WorkchainDescrV2:
		s.baseZerostate = d.WorkchainDescrFields
	}
	s.minSplit, s.maxSplit = uint(s.baseZerostate.MinSplit), min(uint(s.baseZerostate.MaxSplit), maxSplit)
	return nil
}

func (s *settings) readValidators(bc tlb.BlockchainConfig) error {
	catchain, err := bc.GetCatchainConfig()
	if err != nil {
		return err
	}
	switch c := catchain.Config.(type) {
	case tlb.CatchainConfigV1:
		s.masterLifetime, s.shardLifetime = c.McCatchainLifetime, c.ShardCatchainLifetime
	case tlb.CatchainConfigV2:
		s.masterLifetime, s.shardLifetime = c.McCatchainLifetime, c.ShardCatchainLifetime
	}
	s.readConsensus(bc)
	set, err := bc.GetCurrentValidators()
	if err != nil {
		return err
	}
	list, ok := set.Validators.(tlb.ValidatorSetExt)
	if !ok {
		return fmt.Errorf("config param 34 is a %T", set.Validators)
	}
	entries, err := list.List.LoadAll()
	for _, kv := range entries {
		v := &tlb.ValidatorAddr{}
		if err := tlb.LoadFromCell(v, kv.Value); err != nil {
			return fmt.Errorf("config param 34: %w", err)
		}
		s.validators = append(s.validators, v)
	}
	return err
}

// readConsensus takes params that are missing for those of catchain, as nodes do.
func (s *settings) readConsensus(bc tlb.BlockchainConfig) {
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
