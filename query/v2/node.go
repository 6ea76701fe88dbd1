package v2

import (
	"context"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/lite"
)

// Node asks lite servers, and proves what they say. *lite.Pool is one.
type Node interface {
	// Head is the newest masterchain block, Master the one with a seqno; Master
	// of 0 is the zerostate.
	Head(ctx context.Context) (*ton.BlockIDExt, error)
	Master(ctx context.Context, seqno uint32) (*ton.BlockIDExt, error)
	Lookup(ctx context.Context, l lite.Lookup) (*ton.BlockIDExt, *tlb.BlockHeader, error)
	Header(ctx context.Context, id *ton.BlockIDExt) (*tlb.BlockHeader, error)
	Block(ctx context.Context, id *ton.BlockIDExt) ([]byte, *cell.Cell, error)
	// AllShards are the newest shard blocks that a masterchain block commits.
	AllShards(ctx context.Context, master *ton.BlockIDExt) ([]*ton.BlockIDExt, error)
	Account(ctx context.Context, master *ton.BlockIDExt, account *address.Address) (*lite.Account, error)
	// Config is the dictionary of all parameters, or of those asked for.
	Config(ctx context.Context, master *ton.BlockIDExt, params ...int32) (*cell.Cell, error)
	// Libraries are nil where there is none with the hash.
	Libraries(ctx context.Context, hashes ...[]byte) ([]*cell.Cell, error)
	// Transactions are an account's from one back.
	Transactions(ctx context.Context, account *address.Address, lt uint64, hash []byte, limit int, archival bool) ([]lite.Transaction, error)
	Send(ctx context.Context, message []byte) error
	// Query is for requests that have no method here; their checks are the caller's.
	Query(ctx context.Context, q lite.Query) (answer any, server string, err error)
}

var _ Node = (*lite.Pool)(nil)

// tonutils is the address as tonutils-go has it.
func (a *Address) tonutils() *address.Address {
	return address.NewAddress(0, byte(a.Workchain), a.ID[:])
}

const (
	masterWorkchain = -1
	masterShard     = -1 << 63
)

func isMaster(id *ton.BlockIDExt) bool {
	return id.Workchain == masterWorkchain && id.Shard == masterShard
}

// blockID is a block, the one type whose @type has a namespace.
type blockID struct {
	_         typed    `type:"{ns}.blockIdExt"`
	Workchain int32    `json:"workchain"`
	Shard     int64    `json:"shard,string"`
	Seqno     int32    `json:"seqno"`
	RootHash  [32]byte `json:"root_hash"`
	FileHash  [32]byte `json:"file_hash"`
}

func newBlockID(id *ton.BlockIDExt) blockID {
	b := blockID{Workchain: id.Workchain, Shard: id.Shard, Seqno: int32(id.SeqNo)}
	copy(b.RootHash[:], id.RootHash)
	copy(b.FileHash[:], id.FileHash)
	return b
}

func newBlockIDs(ids []*ton.BlockIDExt) []blockID {
	list := make([]blockID, 0, len(ids))
	for _, id := range ids {
		list = append(list, newBlockID(id))
	}
	return list
}

// masterAt is the masterchain block with a seqno. One that is not there yet is
// refused at once, as lite servers do.
func (c *call) masterAt(seqno uint32) (*ton.BlockIDExt, error) {
	head, err := c.node.Head(c)
	switch {
	case err != nil:
		return nil, err
	case head.SeqNo == seqno:
		return head, nil
	case head.SeqNo < seqno:
		return nil, notInDB("seqno", head)
	}
	return c.node.Master(c, seqno)
}

func notInDB(what string, head *ton.BlockIDExt) error {
	return failed("LITE_SERVER_NOTREADY: %s not in db (last known masterchain block: %d)", what, head.SeqNo)
}

// master is the masterchain block that parameter seqno names, without it the
// newest one.
func (c *call) master() (*ton.BlockIDExt, error) {
	if c.sent("seqno") {
		return c.masterAt(uint32(c.number("seqno")))
	}
	return c.node.Head(c)
}
