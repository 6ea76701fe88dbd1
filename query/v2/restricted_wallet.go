package v2

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math/big"
	"slices"

	toncell "tonscribe/ton/cell"
	"tonscribe/ton/code"
)

// A restricted wallet gives its money free in steps.
type (
	restrictedState struct {
		_        typed            `type:"rwallet.accountState"`
		WalletID int64            `json:"wallet_id"`
		Seqno    int32            `json:"seqno"`
		Unlocked int64            `json:"unlocked_balance"`
		Config   restrictedConfig `json:"config"`
	}
	restrictedConfig struct {
		_       typed             `type:"rwallet.config"`
		StartAt int64             `json:"start_at"`
		Limits  []restrictedLimit `json:"limits"`
	}
	restrictedLimit struct {
		_       typed `type:"rwallet.limit"`
		Seconds int32 `json:"seconds"`
		Value   int64 `json:"value"`
	}
)

// mostLimits is how many steps of a restricted wallet are read.
const mostLimits = 1024

var errNotStarted = errors.New("a restricted wallet without its limits")

// readRestricted reads seqno 32, wallet_id 32, public_key 256, start_at 32 and a
// HashmapE 32 from signed seconds to Grams. Before its first message there is a
// second key in place of the last two.
func readRestricted(r *reader) contractState {
	seqno, id := seqnoAndID(r)
	if seqno == 0 {
		r.Fail(errNotStarted)
	}
	r.Skip(256)
	state := restrictedState{WalletID: id, Seqno: seqno, Config: restrictedConfig{StartAt: int64(r.Uint(32))}}
	if !r.Bit() || r.Err() != nil {
		return state
	}
	all, err := toncell.Dictionary{Root: r.ref(), Bits: 32}.Entries(mostLimits)
	r.Fail(err)
	for _, e := range all {
		value, err := e.Value.LoadBigCoins()
		if r.Fail(err); err != nil {
			break
		}
		state.Config.Limits = append(state.Config.Limits, restrictedLimit{
			Seconds: int32(binary.BigEndian.Uint32(e.Key)), Value: value.Int64(),
		})
	}
	slices.SortFunc(state.Config.Limits, func(a, b restrictedLimit) int { return cmp.Compare(a.Seconds, b.Seconds) })
	return state
}

// unlocked asks the wallet what it may send; false when it does not say.
func (c *call) unlocked(s *accountState, wallet *restrictedState) (bool, error) {
	result, err := c.run(s, int64(code.MethodID("balance")), nil)
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
