package genesis

import (
	"fmt"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Facts are what the config names and config.yaml cannot know.
type Facts struct {
	Validator    [32]byte // public key
	ADNL         [32]byte
	BaseRootHash []byte // of the basechain's zerostate
	BaseFileHash []byte
	GenUtime     uint32
	// Simplex reports whether validators agree by the simplex consensus.
	Simplex bool
	// Special accounts of the masterchain besides config and elector.
	Special [][32]byte
}

// Params are the config params by number, as block.tlb has them.
func (c Config) Params(f Facts) (map[uint32]*cell.Cell, error) {
	w := &writer{}
	params := map[uint32]*cell.Cell{
		0:  w.bytes(c.ConfigAddress[:]).cell(),
		1:  w.bytes(c.ElectorAddress[:]).cell(),
		2:  w.bytes(c.MinterAddress[:]).cell(),
		4:  w.bytes(c.DNSRootAddress[:]).cell(),
		8:  w.uint(0xc4, 8).uint(uint64(c.Version), 32).uint(c.Capabilities, 64).cell(),
		9:  w.set(c.Mandatory),
		10: w.set(c.Critical),
		11: w.uint(0x91, 8).ref(w.votingSetup(c.Voting.Normal)).ref(w.votingSetup(c.Voting.Critical)).cell(),
		12: w.workchains(c, f),
		13: w.uint(0x1a, 8).coins(c.Complaint.Deposit).coins(c.Complaint.BitPrice).coins(c.Complaint.CellPrice).cell(),
		14: w.uint(0x6b, 8).coins(c.BlockCreateFees.Masterchain).coins(c.BlockCreateFees.Basechain).cell(),
		15: w.uints(32, c.Elections.ElectedFor, c.Elections.StartBefore, c.Elections.EndBefore, c.Elections.StakeHeldFor).cell(),
		16: w.uints(16, uint32(c.Validators.Max), uint32(c.Validators.MaxMain), uint32(c.Validators.Min)).cell(),
		17: w.coins(c.Validators.MinStake).coins(c.Validators.MaxStake).coins(c.Validators.MinTotalStake).uint(uint64(c.Validators.MaxStakeFactor), 32).cell(),
		18: w.storagePrices(c),
		19: w.uint(uint64(uint32(c.GlobalID)), 32).cell(),
		20: w.gas(c.Gas.Masterchain),
		21: w.gas(c.Gas.Basechain),
		22: w.limits(c.BlockLimits.Masterchain),
		23: w.limits(c.BlockLimits.Basechain),
		24: w.forward(c.Forward.Masterchain),
		25: w.forward(c.Forward.Basechain),
		28: w.uint(0xc2, 8).uint(0, 8).uints(32, c.Catchain.MasterchainLifetime, c.Catchain.ShardLifetime,
			c.Catchain.ShardValidatorsLifetime, c.Catchain.ShardValidators).cell(),
		29: w.consensus(c),
		31: w.special(c, f),
		34: w.validatorSet(c, f),
		43: w.uint(0x01, 8).uints(32, c.Sizes.MessageBits, c.Sizes.MessageCells, c.Sizes.LibraryCells).
			uint(uint64(c.Sizes.VMDataDepth), 16).uint(uint64(c.Sizes.ExternalSize), 32).uint(uint64(c.Sizes.ExternalDepth), 16).cell(),
	}
	if f.Simplex {
		params[30] = w.newConsensus(c)
	}
	if w.err != nil {
		return nil, fmt.Errorf("genesis config: %w", w.err)
	}
	return params, nil
}

// BurningParam is the number of what Burning returns.
const BurningParam = 5

// Burning is the config param that says which part of the masterchain's fees is burned:
// none. Public networks have it, and clients that read the whole config want it.
func Burning() *cell.Cell {
	w := &writer{}
	return w.uint(0x01, 8).uint(0, 1).uints(32, 0, 1).cell() // no blackhole_addr, 0/1
}

// Dict puts params together to the config itself: Hashmap 32 ^Cell.
func Dict(params map[uint32]*cell.Cell) (*cell.Cell, error) {
	d := cell.NewDict(32)
	for id, param := range params {
		if err := d.SetBuilder(key(uint64(id), 32), cell.BeginCell().MustStoreRef(param)); err != nil {
			return nil, fmt.Errorf("config param %d: %w", id, err)
		}
	}
	return d.AsCell(), nil
}

func key(v uint64, bits uint) *cell.Cell { return cell.BeginCell().MustStoreUInt(v, bits).EndCell() }

// writer keeps the first error of a chain of stores.
type writer struct {
	b   *cell.Builder
	err error
}

func (w *writer) builder() *cell.Builder {
	if w.b == nil {
		w.b = cell.BeginCell()
	}
	return w.b
}

func (w *writer) keep(err error) *writer {
	if w.err == nil {
		w.err = err
	}
	return w
}

func (w *writer) uint(v uint64, bits uint) *writer { return w.keep(w.builder().StoreUInt(v, bits)) }
func (w *writer) coins(v uint64) *writer           { return w.keep(w.builder().StoreCoins(v)) }
func (w *writer) bytes(v []byte) *writer {
	return w.keep(w.builder().StoreSlice(v, uint(len(v))*8))
}
func (w *writer) ref(c *cell.Cell) *writer { return w.keep(w.builder().StoreRef(c)) }

func (w *writer) uints(bits uint, values ...uint32) *writer {
	for _, v := range values {
		w.uint(uint64(v), bits)
	}
	return w
}

// cell ends the cell and makes room for the next.
func (w *writer) cell() *cell.Cell {
	c := w.builder().EndCell()
	w.b = nil
	return c
}

// put sets a key of a dictionary to what was written so far.
func (w *writer) put(d *cell.Dictionary, k *cell.Cell) {
	w.keep(d.SetBuilder(k, w.builder()))
	w.b = nil
}

// set is Hashmap 32 True.
func (w *writer) set(ids []uint32) *cell.Cell {
	d := cell.NewDict(32)
	for _, id := range ids {
		w.put(d, key(uint64(id), 32))
	}
	return d.AsCell()
}

func (w *writer) votingSetup(v VotingSetup) *cell.Cell {
	outer := w.b
	w.b = nil
	c := w.uint(0x36, 8).uints(8, uint32(v.MinRounds), uint32(v.MaxRounds), uint32(v.MinWins), uint32(v.MaxLosses)).
		uints(32, v.MinStore, v.MaxStore, v.BitPrice, v.CellPrice).cell()
	w.b = outer
	return c
}

func (w *writer) workchains(c Config, f Facts) *cell.Cell {
	d := cell.NewDict(32)
	w.uint(0xa6, 8).uint(uint64(f.GenUtime), 32).uint(0, 8). // enabled_since, actual_min_split
									uint(uint64(c.Basechain.MinSplit), 8).uint(uint64(c.Basechain.MaxSplit), 8).
									uint(0b111, 3).uint(0, 13). // basic, active, accept_msgs, flags
									bytes(f.BaseRootHash).bytes(f.BaseFileHash).uint(0, 32).
									uint(1, 4).uint(0xffffffff, 32).uint(0, 64) // wfmt_basic, vm_version -1, vm_mode
	w.put(d, key(0, 32))
	return cell.BeginCell().MustStoreMaybeRef(d.AsCell()).EndCell()
}

func (w *writer) storagePrices(c Config) *cell.Cell {
	d := cell.NewDict(32)
	w.uint(0xcc, 8).uint(0, 32).uint(c.Storage.Bit, 64).uint(c.Storage.Cell, 64).
		uint(c.Storage.MasterchainBit, 64).uint(c.Storage.MasterchainCell, 64)
	w.put(d, key(0, 32))
	return d.AsCell()
}

func (w *writer) gas(g Gas) *cell.Cell {
	return w.uint(0xd1, 8).uint(g.FlatLimit, 64).uint(g.FlatPrice, 64).uint(0xde, 8).uint(g.Price, 64).
		uint(g.Limit, 64).uint(g.SpecialLimit, 64).uint(g.Credit, 64).uint(g.BlockLimit, 64).
		uint(g.FreezeDue, 64).uint(g.DeleteDue, 64).cell()
}

func (w *writer) limits(l Limits) *cell.Cell {
	w.uint(0x5d, 8)
	for _, three := range [][3]uint32{l.Bytes, l.Gas, l.LT} {
		w.uint(0xc3, 8).uints(32, three[:]...)
	}
	return w.cell()
}

func (w *writer) forward(f Forward) *cell.Cell {
	return w.uint(0xea, 8).uint(f.Lump, 64).uint(f.Bit, 64).uint(f.Cell, 64).uint(uint64(f.IHRFactor), 32).
		uint(uint64(f.FirstFrac), 16).uint(uint64(f.NextFrac), 16).cell()
}

func (w *writer) consensus(c Config) *cell.Cell {
	s := c.Consensus
	return w.uint(0xd9, 8).uint(1, 8).uint(uint64(s.Rounds), 8). // flags 0, new_catchain_ids
									uints(32, s.NextCandidateDelay, s.Timeout, s.FastAttempts, s.AttemptDuration, s.MaxDeps, s.MaxBlockBytes, s.MaxCollatedBytes).
									uint(uint64(s.Proto), 16).uint(uint64(s.MaxBlocksCoeff), 32).cell()
}

// targetRate is the number of a noncritical param of simplex_config_v2.
const targetRate = 0

// newConsensus has the same config for the masterchain and the shards.
func (w *writer) newConsensus(c Config) *cell.Cell {
	noncritical := cell.NewDict(8)
	w.uint(uint64(c.Simplex.TargetRate), 32)
	w.put(noncritical, key(targetRate, 8))
	quic := uint64(0)
	if c.Simplex.QUIC {
		quic = 1
	}
	simplex := w.uint(0x22, 8).uint(0, 7).uint(quic, 1).uint(uint64(c.Simplex.LeaderWindow), 32).ref1(noncritical.AsCell()).cell()
	return w.uint(0x10, 8).ref1(simplex).ref1(simplex).cell()
}

func (w *writer) special(c Config, f Facts) *cell.Cell {
	d := cell.NewDict(256)
	for _, id := range append([][32]byte{c.ConfigAddress, c.ElectorAddress}, f.Special...) {
		w.put(d, cell.BeginCell().MustStoreSlice(id[:], 256).EndCell())
	}
	return cell.BeginCell().MustStoreMaybeRef(d.AsCell()).EndCell()
}

// validatorSet has one validator with the whole weight.
func (w *writer) validatorSet(c Config, f Facts) *cell.Cell {
	d := cell.NewDict(16)
	w.uint(0x73, 8).uint(0x8e81278a, 32).bytes(f.Validator[:]).uint(1, 64).bytes(f.ADNL[:])
	w.put(d, key(0, 16))
	return w.uint(0x12, 8).uints(32, c.ValidatorSince, c.ValidatorUntil).uints(16, 1, 1).uint(1, 64).
		ref1(d.AsCell()).cell()
}

// ref1 stores a dictionary that is not empty (HashmapE).
func (w *writer) ref1(c *cell.Cell) *writer { return w.keep(w.builder().StoreMaybeRef(c)) }
