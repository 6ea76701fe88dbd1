package lite

import (
	"context"
	"fmt"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"
)

// replay is a client of tonutils-go that reads one answer which is already
// there, with its proofs against the block asked for. That the block is in the
// chain is this package's own matter.
func replay(answer any) *ton.APIClient {
	return ton.NewAPIClient(recorded{answer}, ton.ProofCheckPolicyFast)
}

// recorded is a ton.LiteClient with one answer.
type recorded struct{ answer any }

func (r recorded) QueryLiteserver(_ context.Context, _, result tl.Serializable) error {
	into, ok := result.(*tl.Serializable)
	if !ok {
		return fmt.Errorf("answer into %T", result)
	}
	*into = r.answer
	return nil
}

func (r recorded) StickyContext(ctx context.Context) context.Context { return ctx }

func (r recorded) StickyContextNextNode(ctx context.Context) (context.Context, error) {
	return ctx, ErrUnavailable
}

func (r recorded) StickyContextNextNodeBalanced(ctx context.Context) (context.Context, error) {
	return ctx, ErrUnavailable
}

func (r recorded) StickyNodeID(context.Context) uint32 { return 0 }
