package chain

import (
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Options are what a chain is made from. The same options and the same calls
// give the same bytes.
type Options struct {
	Seed     uint64 // the validator's key, seeds of blocks
	GenUtime uint32 // of the zerostates
	// Consensus is how blocks are signed; empty means Simplex.
	Consensus Consensus
	// Accounts of the zerostates. Those of the elector (-1:33…) and of the
	// config (-1:55…) replace the silent ones that are there otherwise; the
	// first reference of the config contract's data becomes the config.
	// Accounts with Tick or Tock become special accounts.
	Accounts []Account
	// Params replace config params of package genesis, whole.
	Params map[uint32]*cell.Cell
	// MaxBlockGas and MaxBlockBytes, when not 0, are the soft limits of shard
	// blocks instead of those of config param 23.
	MaxBlockGas   uint64
	MaxBlockBytes uint64
	// ShardBlocks is how many blocks each shard makes for one masterchain block
	// (0 means 1).
	ShardBlocks int
	// SplitDelay is the time between the announcement of a split or merge and
	// its beginning, in seconds (0 means 2; public networks wait 100).
	SplitDelay uint32
}

// Elector and Config are the addresses of the system contracts in the
// masterchain (config params 1 and 0).
var (
	Elector = [32]byte(repeated(0x33))
	Config  = [32]byte(repeated(0x55))
)

func repeated(b byte) []byte {
	out := make([]byte, 32)
	for i := range out {
		out[i] = b
	}
	return out
}

// systemBalance is what a silent system contract holds.
var systemBalance = new(big.Int).SetUint64(1_000_000_000_000)
