// Package genesis turns the readable config of the devnet (config.yaml) into
// config params of TON. It must not know how blocks are made.
package genesis

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"fmt"

	"gopkg.in/yaml.v3"
)

//go:embed config.yaml
var defaults []byte

// Config is what config.yaml says.
type Config struct {
	GlobalID     int32  `yaml:"global_id"`
	Version      uint32 `yaml:"version"`
	Capabilities uint64 `yaml:"capabilities"`

	ConfigAddress  Address `yaml:"config_address"`
	ElectorAddress Address `yaml:"elector_address"`
	MinterAddress  Address `yaml:"minter_address"`
	DNSRootAddress Address `yaml:"dns_root_address"`

	Mandatory []uint32 `yaml:"mandatory_params"`
	Critical  []uint32 `yaml:"critical_params"`

	Voting struct {
		Normal   VotingSetup `yaml:"normal"`
		Critical VotingSetup `yaml:"critical"`
	} `yaml:"voting"`

	Basechain struct {
		MinSplit uint8 `yaml:"min_split"`
		MaxSplit uint8 `yaml:"max_split"`
	} `yaml:"basechain"`

	Complaint struct {
		Deposit   uint64 `yaml:"deposit"`
		BitPrice  uint64 `yaml:"bit_price"`
		CellPrice uint64 `yaml:"cell_price"`
	} `yaml:"complaint"`

	BlockCreateFees struct {
		Masterchain uint64 `yaml:"masterchain"`
		Basechain   uint64 `yaml:"basechain"`
	} `yaml:"block_create_fees"`

	Elections struct {
		ElectedFor   uint32 `yaml:"elected_for"`
		StartBefore  uint32 `yaml:"start_before"`
		EndBefore    uint32 `yaml:"end_before"`
		StakeHeldFor uint32 `yaml:"stake_held_for"`
	} `yaml:"elections"`

	Validators struct {
		Max            uint16 `yaml:"max"`
		MaxMain        uint16 `yaml:"max_main"`
		Min            uint16 `yaml:"min"`
		MinStake       uint64 `yaml:"min_stake"`
		MaxStake       uint64 `yaml:"max_stake"`
		MinTotalStake  uint64 `yaml:"min_total_stake"`
		MaxStakeFactor uint32 `yaml:"max_stake_factor"`
	} `yaml:"validators"`

	Storage struct {
		Bit             uint64 `yaml:"bit"`
		Cell            uint64 `yaml:"cell"`
		MasterchainBit  uint64 `yaml:"masterchain_bit"`
		MasterchainCell uint64 `yaml:"masterchain_cell"`
	} `yaml:"storage"`

	Gas         byChain[Gas]     `yaml:"gas"`
	BlockLimits byChain[Limits]  `yaml:"block_limits"`
	Forward     byChain[Forward] `yaml:"forward"`

	Catchain struct {
		MasterchainLifetime     uint32 `yaml:"masterchain_lifetime"`
		ShardLifetime           uint32 `yaml:"shard_lifetime"`
		ShardValidatorsLifetime uint32 `yaml:"shard_validators_lifetime"`
		ShardValidators         uint32 `yaml:"shard_validators"`
	} `yaml:"catchain"`

	Consensus struct {
		Rounds             uint8  `yaml:"rounds"`
		NextCandidateDelay uint32 `yaml:"next_candidate_delay"`
		Timeout            uint32 `yaml:"timeout"`
		FastAttempts       uint32 `yaml:"fast_attempts"`
		AttemptDuration    uint32 `yaml:"attempt_duration"`
		MaxDeps            uint32 `yaml:"max_deps"`
		MaxBlockBytes      uint32 `yaml:"max_block_bytes"`
		MaxCollatedBytes   uint32 `yaml:"max_collated_bytes"`
		Proto              uint16 `yaml:"proto"`
		MaxBlocksCoeff     uint32 `yaml:"max_blocks_coeff"`
	} `yaml:"consensus"`

	Simplex struct {
		QUIC         bool   `yaml:"quic"`
		LeaderWindow uint32 `yaml:"leader_window"` // slots
		TargetRate   uint32 `yaml:"target_rate"`   // milliseconds from one block to the next
	} `yaml:"simplex"`

	Sizes struct {
		MessageBits   uint32 `yaml:"message_bits"`
		MessageCells  uint32 `yaml:"message_cells"`
		LibraryCells  uint32 `yaml:"library_cells"`
		VMDataDepth   uint16 `yaml:"vm_data_depth"`
		ExternalSize  uint32 `yaml:"external_size"`
		ExternalDepth uint16 `yaml:"external_depth"`
	} `yaml:"sizes"`

	ValidatorSince uint32 `yaml:"validator_since"`
	ValidatorUntil uint32 `yaml:"validator_until"`
}

type byChain[T any] struct {
	Masterchain T `yaml:"masterchain"`
	Basechain   T `yaml:"basechain"`
}

// VotingSetup is ConfigProposalSetup (block.tlb).
type VotingSetup struct {
	MinRounds uint8  `yaml:"min_rounds"`
	MaxRounds uint8  `yaml:"max_rounds"`
	MinWins   uint8  `yaml:"min_wins"`
	MaxLosses uint8  `yaml:"max_losses"`
	MinStore  uint32 `yaml:"min_store"`
	MaxStore  uint32 `yaml:"max_store"`
	BitPrice  uint32 `yaml:"bit_price"`
	CellPrice uint32 `yaml:"cell_price"`
}

// Gas is GasLimitsPrices (block.tlb).
type Gas struct {
	FlatLimit    uint64 `yaml:"flat_limit"`
	FlatPrice    uint64 `yaml:"flat_price"`
	Price        uint64 `yaml:"price"`
	Limit        uint64 `yaml:"limit"`
	SpecialLimit uint64 `yaml:"special_limit"`
	Credit       uint64 `yaml:"credit"`
	BlockLimit   uint64 `yaml:"block_limit"`
	FreezeDue    uint64 `yaml:"freeze_due"`
	DeleteDue    uint64 `yaml:"delete_due"`
}

// Limits is BlockLimits (block.tlb): underload, soft and hard limit of each.
type Limits struct {
	Bytes [3]uint32 `yaml:"bytes"`
	Gas   [3]uint32 `yaml:"gas"`
	LT    [3]uint32 `yaml:"lt"`
}

// Forward is MsgForwardPrices (block.tlb).
type Forward struct {
	Lump      uint64 `yaml:"lump"`
	Bit       uint64 `yaml:"bit"`
	Cell      uint64 `yaml:"cell"`
	IHRFactor uint32 `yaml:"ihr_factor"`
	FirstFrac uint16 `yaml:"first_frac"`
	NextFrac  uint16 `yaml:"next_frac"`
}

// Address is an account of the masterchain, 64 hex digits.
type Address [32]byte

// UnmarshalText reads 64 hex digits.
func (a *Address) UnmarshalText(text []byte) error {
	if len(text) != 64 {
		return fmt.Errorf("address %q must have 64 hex digits", text)
	}
	_, err := hex.Decode(a[:], text)
	return err
}

// Default is config.yaml.
func Default() Config {
	c, err := Read(defaults)
	if err != nil {
		panic(err) // the embedded file is tested
	}
	return c
}

// Read reads a config in the form of config.yaml.
func Read(text []byte) (Config, error) {
	var c Config
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("genesis config: %w", err)
	}
	return c, nil
}
