package v2

import (
	"fmt"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/lite"
	"tonscribe/query/openapi"
)

// headerBlock checks a header with its proof.
func headerBlock(answer any, id *ton.BlockIDExt) (*tlb.Block, error) {
	got, ok := answer.(ton.BlockHeader)
	if !ok || got.ID == nil || !got.ID.Equals(id) {
		return nil, fmt.Errorf("getBlockHeader: answered with %T", answer)
	}
	proof, err := cell.FromBOC(got.HeaderProof)
	if err != nil {
		return nil, err
	}
	return ton.CheckBlockProof(proof, id.RootHash)
}

type shardBlockLink struct {
	_     typed   `type:"blocks.shardBlockLink"`
	ID    blockID `json:"id"`
	Proof []byte  `json:"proof"`
}

type blockLinkBack struct {
	_          typed   `type:"blocks.blockLinkBack"`
	ToKeyBlock bool    `json:"to_key_block"`
	From       blockID `json:"from"`
	To         blockID `json:"to"`
	DestProof  []byte  `json:"dest_proof"`
	Proof      []byte  `json:"proof"`
	StateProof []byte  `json:"state_proof"`
}

type shardBlockProof struct {
	_       typed            `type:"blocks.shardBlockProof"`
	From    blockID          `json:"from"`
	Master  blockID          `json:"mc_id"`
	Links   []shardBlockLink `json:"links"`
	McProof []blockLinkBack  `json:"mc_proof"`
}

var errTooOld = failed("from mc block is too old")

var getShardBlockProof = &Method{
	Name: "getShardBlockProof", Tag: tagBlocks, Summary: "Shard block proof",
	Description: "A chain of proofs from a masterchain block back to a block of any shard.",
	Params: Join(shardParams, []Param{
		{Name: "seqno", Kind: Int32Kind, Required: true, Min: bound(1), Description: "seqno of the block"},
		{Name: "from_seqno", Kind: Int32Kind, Min: bound(0), Description: "masterchain block that the proof starts from; without it the newest one"},
	}),
	Cache:  keepBlocks,
	ofHead: func(v *Values) bool { return !v.sent("from_seqno") },
	Result: openapi.TypeOf[shardBlockProof](),
	Errors: []Error{*errTooOld, *failed("lookup from block error: <text>")},
	serve: func(c *call) (any, error) {
		id, err := c.find(lite.Lookup{Workchain: int32(c.number("workchain")), Shard: c.number("shard"), Seqno: uint32(c.number("seqno"))})
		if err != nil {
			return nil, err
		}
		from, err := c.proofStart()
		if err != nil {
			return nil, err
		}
		master, links := id, []shardBlockLink{}
		if !isMaster(id) {
			if master, links, err = c.shardLinks(id); err != nil {
				return nil, err
			}
		}
		if from.SeqNo < master.SeqNo {
			return nil, errTooOld
		}
		back, err := c.linksBack(from, master)
		return shardBlockProof{From: newBlockID(from), Master: newBlockID(master), Links: links, McProof: back}, err
	},
}

func (c *call) proofStart() (*ton.BlockIDExt, error) {
	if !c.sent("from_seqno") {
		return c.node.Head(c)
	}
	from, err := c.masterAt(uint32(c.number("from_seqno")))
	if e := known(err); err != nil && e != nil && e != errTimeout {
		return nil, failed("lookup from block error: %s", e.Text)
	}
	return from, err
}

// shardLinks leads from a masterchain block to a shard block. Each proof is
// checked: the first shows the shard in the masterchain block, each further one
// shows the next block as a parent of the one before.
func (c *call) shardLinks(id *ton.BlockIDExt) (*ton.BlockIDExt, []shardBlockLink, error) {
	var got ton.ShardBlockProof
	_, _, err := c.node.Query(c, lite.Query{
		Request: ton.GetShardBlockProof{ID: id},
		Check: func(answer any) error {
			var ok bool
			if got, ok = answer.(ton.ShardBlockProof); !ok || got.MasterchainID == nil {
				return fmt.Errorf("getShardBlockProof: answered with %T", answer)
			}
			return checkShardLinks(got, id)
		},
	})
	if err != nil {
		return nil, nil, err
	}
	master, err := c.masterAt(got.MasterchainID.SeqNo)
	if err != nil {
		return nil, nil, err
	}
	if !master.Equals(got.MasterchainID) {
		return nil, nil, fmt.Errorf("getShardBlockProof: masterchain block %d is not the proven one: %w", master.SeqNo, lite.ErrRefused)
	}
	links := make([]shardBlockLink, 0, len(got.Links))
	for _, link := range got.Links {
		links = append(links, shardBlockLink{ID: newBlockID(link.ID), Proof: link.Proof})
	}
	return master, links, nil
}

func checkShardLinks(got ton.ShardBlockProof, id *ton.BlockIDExt) error {
	at := got.MasterchainID
	for i, link := range got.Links {
		if link.ID == nil {
			return fmt.Errorf("getShardBlockProof: link %d names no block", i)
		}
		root, err := cell.FromBOC(link.Proof)
		if err != nil {
			return fmt.Errorf("getShardBlockProof: link %d: %w", i, err)
		}
		block, err := ton.CheckBlockProof(root, at.RootHash)
		if err != nil {
			return fmt.Errorf("getShardBlockProof: link %d: %w", i, err)
		}
		if err := leadsTo(block, link.ID); err != nil {
			return fmt.Errorf("getShardBlockProof: link %d: %w", i, err)
		}
		at = link.ID
	}
	if !at.Equals(id) {
		return fmt.Errorf("getShardBlockProof: it leads to (%d,%016x,%d)", at.Workchain, uint64(at.Shard), at.SeqNo)
	}
	return nil
}

// leadsTo says whether a proven block names another one: among its shards, or as
// what it follows.
func leadsTo(block *tlb.Block, id *ton.BlockIDExt) error {
	var named []*ton.BlockIDExt
	var err error
	if block.Extra != nil && block.Extra.Custom != nil {
		named, err = ton.LoadShardsFromHashes(block.Extra.Custom.ShardHashes, true)
	} else {
		named, err = ton.GetParentBlocks(&block.BlockInfo)
	}
	for _, other := range named {
		if other.Equals(id) {
			return nil
		}
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("block (%d,%016x,%d) is not in the proof", id.Workchain, uint64(id.Shard), id.SeqNo)
}

// linksBack leads from a masterchain block to an earlier one.
func (c *call) linksBack(from, to *ton.BlockIDExt) ([]blockLinkBack, error) {
	links := []blockLinkBack{}
	if from.SeqNo == to.SeqNo {
		return links, nil
	}
	_, _, err := c.node.Query(c, lite.Query{
		Request: ton.GetBlockProof{Mode: 1, KnownBlock: from, TargetBlock: to}, Seqno: from.SeqNo,
		Check: func(answer any) error {
			links = links[:0]
			got, ok := answer.(ton.PartialBlockProof)
			if !ok {
				return fmt.Errorf("getBlockProof: answered with %T", answer)
			}
			at := from
			for i, step := range got.Steps {
				link, ok := step.(ton.BlockLinkBackward)
				if !ok || !link.From.Equals(at) {
					return fmt.Errorf("getBlockProof: step %d is a %T", i, step)
				}
				if err := checkLinkBack(link); err != nil {
					return fmt.Errorf("getBlockProof: step %d: %w", i, err)
				}
				at = link.To
				links = append(links, blockLinkBack{
					ToKeyBlock: link.ToKeyBlock, From: newBlockID(link.From), To: newBlockID(link.To),
					DestProof: link.DestProof, Proof: link.Proof, StateProof: link.StateProof,
				})
			}
			if !at.Equals(to) {
				return fmt.Errorf("getBlockProof: it leads to block %d", at.SeqNo)
			}
			return nil
		},
	})
	return links, err
}

func checkLinkBack(link ton.BlockLinkBackward) error {
	var cells [3]*cell.Cell
	for i, bag := range [][]byte{link.StateProof, link.DestProof, link.Proof} {
		var err error
		if cells[i], err = cell.FromBOC(bag); err != nil {
			return err
		}
	}
	return ton.CheckBackwardBlockProof(link.From, link.To, link.ToKeyBlock, cells[0], cells[1], cells[2])
}
