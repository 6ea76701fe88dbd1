package v2

import (
	"errors"
	"time"

	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/lite"
	"tonscribe/query/openapi"
)

type masterchainInfo struct {
	_             typed   `type:"blocks.masterchainInfo"`
	Last          blockID `json:"last"`
	StateRootHash []byte  `json:"state_root_hash"`
	Init          blockID `json:"init"`
}

var getMasterchainInfo = &Method{
	Name: "getMasterchainInfo", Tag: tagBlocks, Summary: "Masterchain info",
	Description: "The newest masterchain block, the hash of its state, and the zerostate.",
	Cache:       time.Second,
	Result:      openapi.TypeOf[masterchainInfo](),
	serve: func(c *call) (any, error) {
		last, err := c.node.Head(c)
		if err != nil {
			return nil, err
		}
		zero, err := c.node.Master(c, 0)
		if err != nil {
			return nil, err
		}
		state, err := c.stateHash(last)
		if err != nil {
			return nil, err
		}
		init := newBlockID(zero)
		init.Workchain, init.Shard, init.Seqno = masterWorkchain, 0, 0
		return masterchainInfo{Last: newBlockID(last), StateRootHash: state, Init: init}, nil
	},
}

// withStateUpdate is the mode of a header that shows the Merkle update of the
// state too.
const withStateUpdate = 1

// stateHash is the hash of the state after a block, out of the block's header.
func (c *call) stateHash(id *ton.BlockIDExt) (hash []byte, err error) {
	_, _, err = c.node.Query(c, lite.Query{
		Request: ton.GetBlockHeader{ID: id, Mode: withStateUpdate}, Seqno: id.SeqNo,
		Check: func(answer any) error {
			block, err := headerBlock(answer, id)
			if err != nil {
				return err
			}
			update := block.StateUpdate
			if update == nil || update.GetType() != cell.MerkleUpdateCellType {
				return errors.New("getBlockHeader: it does not show the state update")
			}
			after, err := update.PeekRef(1)
			if err != nil {
				return err
			}
			hash = after.Hash(0)
			return nil
		},
	})
	return hash, err
}

type consensusBlock struct {
	_         typed  `type:"ext.blocks.consensusBlock"`
	Seqno     uint32 `json:"consensus_block"`
	Timestamp int64  `json:"timestamp"`
}

var getConsensusBlock = &Method{
	Name: "getConsensusBlock", Tag: tagBlocks, Summary: "Consensus block",
	Description: "Seqno of the newest masterchain block that is proven, and the time of the answer.",
	Cache:       time.Second,
	Result:      openapi.TypeOf[consensusBlock](),
	serve: func(c *call) (any, error) {
		head, err := c.node.Head(c)
		if err != nil {
			return nil, err
		}
		return consensusBlock{Seqno: head.SeqNo, Timestamp: time.Now().Unix()}, nil
	},
}
