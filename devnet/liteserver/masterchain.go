package liteserver

import (
	"context"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/devnet/history"
)

const (
	masterchain = -1
	wholeShard  = -1 << 63
	// protocolVersion and capabilities are those of the node's lite server: 1
	// stands for masterchain proofs, 2 for get-methods, 4 for messages.
	protocolVersion = 0x101
	capabilities    = 7
	// anySeqno stands for the newest masterchain block in some queries' ids.
	anySeqno = ^uint32(0)
)

// head is the newest masterchain block.
func (c *Component) head() (history.Meta, error) {
	last := c.dependencies.History.Last()
	if last == 0 {
		return history.Meta{}, refuse(codeNotReady, "no blocks yet")
	}
	return c.dependencies.History.BySeqno(masterchain, 1<<63, last)
}

// reference is the block that a query names, or the newest masterchain block
// where it names that.
func (c *Component) reference(id *ton.BlockIDExt) (*ton.BlockIDExt, error) {
	if id.Workchain == masterchain && id.SeqNo == anySeqno {
		head, err := c.head()
		return head.ID, err
	}
	if id.SeqNo == 0 {
		_, err := c.dependencies.History.State(id)
		return id, err
	}
	meta, err := c.dependencies.History.Meta(id)
	return meta.ID, err
}

func (c *Component) masterchainInfo(context.Context, ton.GetMasterchainInf) (tl.Serializable, error) {
	info, err := c.info()
	if err != nil {
		return nil, err
	}
	return ton.MasterchainInfo{Last: info.Last, StateRootHash: info.StateRootHash, Init: info.Init}, nil
}

func (c *Component) masterchainInfoExt(_ context.Context, q ton.GetMasterchainInfoExt) (tl.Serializable, error) {
	if q.Mode != 0 {
		return nil, refuse(codeError, "unsupported getMasterchainInfo mode")
	}
	return c.info()
}

func (c *Component) info() (ton.MasterchainInfoExt, error) {
	head, err := c.head()
	if err != nil {
		return ton.MasterchainInfoExt{}, err
	}
	state, err := c.dependencies.History.State(head.ID)
	if err != nil {
		return ton.MasterchainInfoExt{}, err
	}
	zero, err := c.dependencies.History.Zerostate(masterchain)
	if err != nil {
		return ton.MasterchainInfoExt{}, err
	}
	return ton.MasterchainInfoExt{
		Version: protocolVersion, Capabilities: capabilities,
		Last: head.ID, LastUTime: head.GenUtime, Now: c.dependencies.Now(), StateRootHash: state.Hash(),
		Init: &ton.ZeroStateIDExt{Workchain: masterchain, RootHash: zero.ID.RootHash, FileHash: zero.ID.FileHash},
	}, nil
}

func (c *Component) currentTime(context.Context, ton.GetTime) (tl.Serializable, error) {
	return ton.CurrentTime{Now: c.dependencies.Now()}, nil
}

func (c *Component) version(context.Context, ton.GetVersion) (tl.Serializable, error) {
	return ton.Version{Version: protocolVersion, Capabilities: capabilities, Now: c.dependencies.Now()}, nil
}
