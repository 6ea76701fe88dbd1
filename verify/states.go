package verify

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
)

// The fields of a Transaction (record.proto) that tell of the account's states:
// what they tell depends on what a cell store had.
const (
	stateBeforeField = 30
	stateAfterField  = 31
)

// withoutStates are the bytes of a transaction's record without these fields,
// which lie one after the other.
func withoutStates(raw []byte) []byte {
	from, to := -1, -1
	for at := 0; at < len(raw); {
		number, kind, tag := protowire.ConsumeTag(raw[at:])
		if tag < 0 {
			return raw
		}
		size := protowire.ConsumeFieldValue(number, kind, raw[at+tag:])
		if size < 0 {
			return raw
		}
		if number == stateBeforeField || number == stateAfterField {
			if from < 0 {
				from = at
			}
			to = at + tag + size
		}
		at += tag + size
	}
	switch {
	case from < 0:
		return raw
	case to == len(raw):
		return raw[:from]
	}
	return append(slices.Clone(raw[:from]), raw[to:]...)
}

// stateless is a transaction without its states.
func stateless(t *record.Transaction) *record.Transaction {
	t.StateBefore, t.StateAfter = nil, nil
	return t
}

// stateSum is the hash of what any decoder knows of a transaction's states:
// statuses and balances.
func stateSum(t *record.Transaction) uint64 {
	known := func(s *record.AccountState) uint64 { return flag(s != nil)<<8 | uint64(s.GetStatus()) }
	return table.HashOf(schema.Prefix(t.Hash), known(t.StateBefore), t.StateBefore.GetBalance(), known(t.StateAfter), t.StateAfter.GetBalance())
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// stateDifference says in what two states differ, where both are known.
func stateDifference(a, b *record.AccountState) string {
	switch {
	case a == nil || b == nil:
		return ""
	case a.Status != b.Status:
		return fmt.Sprintf("status %s and %s", a.Status, b.Status)
	case a.Balance != b.Balance:
		return fmt.Sprintf("balance %d and %d", a.Balance, b.Balance)
	case !a.ExtraUnknown && !b.ExtraUnknown && !slices.EqualFunc(a.ExtraCurrencies, b.ExtraCurrencies, (*record.ExtraCurrency).EqualVT):
		return fmt.Sprintf("extra currencies %v and %v", a.ExtraCurrencies, b.ExtraCurrencies)
	case a.Partial || b.Partial:
		return ""
	}
	for _, part := range []struct {
		name string
		a, b []byte
	}{{"code_hash", a.CodeHash, b.CodeHash}, {"data_hash", a.DataHash, b.DataHash}, {"frozen_hash", a.FrozenHash, b.FrozenHash}} {
		if string(part.a) != string(part.b) {
			return fmt.Sprintf("%s %x and %x", part.name, part.a, part.b)
		}
	}
	return ""
}
