package node

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math/big"
	"slices"

	toncell "tonscribe/ton/cell"
	"tonscribe/ton/code"
)

// RestrictedWallet is a wallet that gives its money free in steps.
type RestrictedWallet struct {
	ID       int64
	Seqno    int32
	Unlocked int64
	StartAt  int64
	Limits   []RestrictedLimit
}

// RestrictedLimit is a step: what stays locked until so many seconds after the start.
type RestrictedLimit struct {
	Seconds int32
	Value   int64
}

// maxLimits is how many steps of a restricted wallet are read.
const maxLimits = 1024

var errNotStarted = errors.New("a restricted wallet without its limits")

// readRestricted reads seqno 32, wallet_id 32, public_key 256, start_at 32 and a
// HashmapE 32 from signed seconds to Grams. Before its first message there is a
// second key in place of the last two.
func readRestricted(r *reader) Contract {
	seqno, id := seqnoAndID(r)
	if seqno == 0 {
		r.Fail(errNotStarted)
	}
	r.Skip(256)
	state := &RestrictedWallet{ID: id, Seqno: seqno, StartAt: int64(r.Uint(32))}
	if !r.Bit() || r.Err() != nil {
		return state
	}
	all, err := toncell.Dictionary{Root: r.ref(), Bits: 32}.Entries(maxLimits)
	r.Fail(err)
	for _, e := range all {
		value, err := e.Value.LoadBigCoins()
		if r.Fail(err); err != nil {
			break
		}
		state.Limits = append(state.Limits, RestrictedLimit{
			Seconds: int32(binary.BigEndian.Uint32(e.Key)), Value: value.Int64(),
		})
	}
	slices.SortFunc(state.Limits, func(a, b RestrictedLimit) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return state
}

// unlocked asks the wallet what it may send; false when it does not say.
func (n *Node) unlocked(ctx context.Context, s *Account, wallet *RestrictedWallet) (bool, error) {
	result, err := n.run(ctx, s, int64(code.MethodID("balance")), nil)
	if err != nil {
		return false, err
	}
	if !result.OK() || len(result.Stack) == 0 {
		return false, nil
	}
	balance, ok := result.Stack[len(result.Stack)-1].(*big.Int)
	if ok {
		wallet.Unlocked = balance.Int64()
	}
	return ok, nil
}
