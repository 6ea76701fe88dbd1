package explain

import (
	"errors"
	"fmt"

	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// FromBoC reads an account's state: an Account, or a ShardAccount (block.tlb).
func FromBoC(boc []byte) (*Subject, error) {
	root, err := cell.FromBOC(boc)
	if err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	s := &Subject{}
	if root.BitsSize() == 256+64 && root.RefsNum() == 1 {
		shard := root.MustBeginParse()
		if root, err = shard.LoadRefCell(); err != nil {
			return nil, fmt.Errorf("account: %w", err)
		}
	}
	var state tlb.AccountState
	if err := tlb.Parse(&state, root); err != nil {
		return nil, fmt.Errorf("account: %w", err)
	}
	switch none := root.BitsSize() == 1 && root.RefsNum() == 0; {
	case !state.IsValid && none:
		return nil, errors.New("account: there is none in this state")
	case !state.IsValid || !isAccount(state.Address):
		return nil, errors.New("account: the cell is neither an Account nor a ShardAccount")
	}
	s.Address = accountOf(state.Address)
	s.Balance, s.LastLT = state.Balance.Nano().Uint64(), state.LastTransactionLT
	switch state.Status {
	case tlb.AccountStatusActive:
		s.Status = record.AccountStatus_ACCOUNT_ACTIVE
		s.Code, s.Data = state.StateInit.Code, state.StateInit.Data
	case tlb.AccountStatusFrozen:
		s.Status = record.AccountStatus_ACCOUNT_FROZEN
	}
	return s, nil
}

// isAccount reports whether an address is a MsgAddressInt (block.tlb) of 256 bits.
func isAccount(a *tonutils.Address) bool {
	return a.BitsLen() == 256 && (a.Type() == tonutils.StdAddress || a.Type() == tonutils.VarAddress)
}

func accountOf(a *tonutils.Address) []byte {
	account := address.New(a.Workchain(), a.Data())
	return account[:]
}
