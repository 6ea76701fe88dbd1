package liteserver

import (
	"context"
	"math/big"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// maxParams that one query may name.
const maxParams = 1024

// fromKeyBlock asks for the config as the last key block has it, instead of the
// state.
const fromKeyBlock = 1 << 15

func (c *Component) configAll(_ context.Context, q ton.GetConfigAll) (tl.Serializable, error) {
	return c.chainConfig(q.BlockID, q.Mode, func(params *cell.Dictionary) { readAll(params.AsCell().MustBeginParse()) })
}

func (c *Component) configParams(_ context.Context, q ton.GetConfigParams) (tl.Serializable, error) {
	if len(q.Params) > maxParams {
		return nil, refuse(codeFatal, "%d config parameters, at most %d can be asked for at once", len(q.Params), maxParams)
	}
	return c.chainConfig(q.BlockID, q.Mode, func(params *cell.Dictionary) { visitParams(params, q.Params...) })
}

// visitParams reads those config parameters that are there.
func visitParams(params *cell.Dictionary, numbers ...int32) {
	for _, number := range numbers {
		if value := find(params.LoadValueByIntKey(big.NewInt(int64(number)))); value != nil {
			readAll(value)
		}
	}
}

func (c *Component) chainConfig(id *ton.BlockIDExt, mode int32, visit func(params *cell.Dictionary)) (tl.Serializable, error) {
	commit, err := c.commitOf(id)
	if err != nil {
		return nil, err
	}
	if mode&fromKeyBlock != 0 {
		return c.keyBlockConfig(commit.Master, mode, visit)
	}
	answer := ton.ConfigAll{Mode: int(mode & 0xffff), ID: commit.Master}
	answer.StateProof, answer.ConfigProof, err = c.stateProofs(commit.Master, func(state *cell.Slice) {
		visit(mcExtra(state).ConfigParams.Config.Params)
	})
	return answer, err
}

// keyBlockConfig proves the config in the key block that id is or follows.
func (c *Component) keyBlockConfig(id *ton.BlockIDExt, mode int32, visit func(params *cell.Dictionary)) (tl.Serializable, error) {
	header, err := c.blockInfo(id)
	if err != nil {
		return nil, err
	}
	if !header.KeyBlock {
		if id, err = c.bySeqno(header.PrevKeyBlockSeqno); err != nil {
			return nil, err
		}
	}
	if id.SeqNo == 0 {
		return nil, refuse(codeError, "there is no key block yet")
	}
	proof, err := c.proveBlock(id, visitKeyBlock(visit))
	if err != nil {
		return nil, err
	}
	return ton.ConfigAll{Mode: int(mode & 0xffff), ID: id, ConfigProof: boc(proof)}, nil
}
