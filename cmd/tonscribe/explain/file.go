package explain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
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
	if !state.IsValid {
		return nil, fmt.Errorf("account: there is none in this state")
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

func accountOf(a *address.Address) []byte {
	n := uint32(a.Workchain())
	return append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, a.Data()...)
}

// ParseAddress reads an address in its raw or its user-friendly form.
func ParseAddress(text string) ([]byte, error) {
	if workchain, _, ok := strings.Cut(text, ":"); ok {
		if _, err := strconv.ParseInt(workchain, 10, 8); err != nil {
			return nil, fmt.Errorf("address %q: its workchain is not a number", text)
		}
		a, err := address.ParseRawAddr(text)
		if err != nil {
			return nil, fmt.Errorf("address %q: %w", text, err)
		}
		return accountOf(a), nil
	}
	a, err := address.ParseAddr(text)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", text, err)
	}
	return accountOf(a), nil
}
