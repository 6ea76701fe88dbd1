// Package chain makes the blocks of a TON chain: in come external messages and
// the time, out go signed masterchain blocks with their shard blocks and states.
// Every transaction is executed by the TVM. It must never read a clock, a file
// or a source of chance: the same options and calls give the same bytes.
package chain

import (
	"math/big"

	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Account is a contract of the zerostate.
type Account struct {
	Workchain  int32
	ID         [32]byte
	Code, Data *cell.Cell
	Balance    *big.Int // nanotons
	Tick, Tock bool     // masterchain only
}

// Zerostate is what a workchain begins with.
type Zerostate struct {
	ID    *ton.BlockIDExt
	Data  []byte // bag of cells; its sha256 is the file hash
	State *cell.Cell
}

// Block is a block with the state after it.
type Block struct {
	ID             *ton.BlockIDExt
	Data           []byte // bag of cells; its sha256 is the file hash
	Root           *cell.Cell
	State          *cell.Cell // ShardStateUnsplit
	GenUtime       uint32
	StartLT, EndLT uint64
	Transactions   []Transaction // in the order of logical time
}

// Transaction is where a transaction of a block stands.
type Transaction struct {
	Workchain int32
	Account   [32]byte
	LT        uint64
	Hash      [32]byte
	Cell      *cell.Cell
}

// Bundle is a masterchain block with every shard block that it commits for the
// first time.
type Bundle struct {
	Master *Block
	Shards []*Block // by workchain, shard, seqno
	// Signatures of the validators under Master, with what names their set.
	Signatures       []ton.Signature
	ValidatorSetHash uint32
	CatchainSeqno    uint32
	// Candidate is what they signed for; nil when it was the id of Master.
	Candidate *Candidate
	// Refused are external messages that no account accepted.
	Refused []Refused
	// Pending are external messages that no block had room for yet, oldest first.
	Pending []*cell.Cell
}

// Refused is an external message that did not become a transaction.
type Refused struct {
	Message *cell.Cell
	Reason  string
}

// Head is all that is needed to go on with a chain: its newest blocks, with
// their states.
type Head struct {
	Master *Block   // seqno 0 and no Root before the first step
	Shards []*Block // the newest of each shard; the zerostate's has seqno 0 and no Root
	// Earlier are the masterchain blocks that the states still refer to: from
	// OldestReference on, up to the one before Master. Their Root is enough.
	Earlier []*Block
	// Candidate is that of Master's bundle.
	Candidate *Candidate
	// Pending are the external messages that Master's bundle left.
	Pending []*cell.Cell
}
