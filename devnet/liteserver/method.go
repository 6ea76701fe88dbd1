package liteserver

import (
	"context"
	"fmt"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/tvm"
)

// maxParamBytes of a get-method's arguments, as in the node.
const maxParamBytes = 65536

// methodStateProof asks runSmcMethod for a proof of the account.
const methodStateProof = 1 << 1

func (c *Component) runMethod(ctx context.Context, q ton.RunSmcMethod) (tl.Serializable, error) {
	if len(q.Params) >= maxParamBytes {
		return nil, refuse(codeFatal, "more than 64k parameter bytes passed")
	}
	stack, err := arguments(q.Params)
	if err != nil {
		return nil, refuse(codeFatal, "parameter list boc cannot be deserialized as a vm stack: %v", err)
	}
	found, err := c.view(q.ID, q.Account)
	if err != nil {
		return nil, err
	}
	answer := ton.RunMethodResult{
		Mode: q.Mode & 0xffff,
		ID:   found.id, ShardBlock: found.shard, ShardProof: found.shardProof, Proof: found.proof, ExitCode: tvm.ExitNotActive,
	}
	if found.account == nil {
		return answer, nil
	}
	moment, err := c.moment(found)
	if err != nil {
		return nil, err
	}
	err = c.withHeavy(ctx, func() error {
		limited, cancel := context.WithTimeout(ctx, c.configuration.MethodTime)
		defer cancel()
		return call(limited, &answer, found, moment, tvm.Input{
			Address:  address.NewAddress(0, byte(q.Account.Workchain), q.Account.ID),
			MethodID: int64(q.MethodID), Stack: stack,
		})
	})
	return answer, err
}

// call runs the method on the account and proves the cells that it read.
func call(ctx context.Context, answer *ton.RunMethodResult, found accountView, moment tvm.Context, in tvm.Input) error {
	builder := cell.NewMerkleProofBuilder(found.account)
	in.Context, in.Account = moment, builder.Root()
	result, err := tvm.Run(ctx, in)
	if err != nil {
		return fmt.Errorf("get-method: %w", err)
	}
	answer.ExitCode = int32(result.ExitCode)
	switch stack := result.StackCell(); {
	case result.ExitCode == tvm.ExitNotActive:
	case stack != nil:
		answer.Result = stack.WithoutTrace()
	default:
		return refuse(codeFatal, "cannot serialize resulting stack")
	}
	if answer.Mode&methodStateProof != 0 {
		answer.StateProof, err = builder.CreateProof()
	}
	return err
}

// arguments of a get-method: TL-B VmStack, or nothing.
func arguments(params []byte) (tvm.Tuple, error) {
	if len(params) == 0 {
		return nil, nil
	}
	root, err := cell.FromBOC(params)
	if err != nil {
		return nil, err
	}
	return tvm.DecodeStack(root)
}

// moment is when a get-method runs: at the shard block, with the masterchain's
// config and libraries.
func (c *Component) moment(found accountView) (tvm.Context, error) {
	shard, err := c.dependencies.History.Meta(found.shard)
	if err != nil {
		return tvm.Context{}, err
	}
	commit, err := c.dependencies.History.Commit(shard.MCSeqno)
	if err != nil {
		return tvm.Context{}, err
	}
	if found.id.Workchain == masterchain {
		commit.Master = found.id
	}
	state, err := c.dependencies.History.State(commit.Master)
	if err != nil {
		return tvm.Context{}, err
	}
	root := state.MustBeginParse()
	libraries := libraryDict(root)
	config, err := tvm.Prepare(mcExtra(root).ConfigParams.Config.Params.AsCell())
	if err != nil {
		return tvm.Context{}, err
	}
	moment := tvm.Context{Config: config, Now: shard.GenUtime, LT: shard.EndLT, BlockLT: shard.EndLT}
	if !libraries.IsEmpty() {
		moment.Libraries = []*cell.Cell{libraries.AsCell()}
	}
	return moment, nil
}
