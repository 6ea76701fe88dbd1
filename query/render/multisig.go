package render

import (
	"bytes"
	"slices"

	"tonscribe/schema/record"
)

// MultisigOptions are what a multisig's own record does not say.
type MultisigOptions struct {
	// IncludeOrders shows Orders, oldest first; null when there are none.
	IncludeOrders bool
	Orders        []*record.Contract
}

// Multisig appends a multisig wallet (contract 3.24).
func Multisig(dst []byte, c *record.Contract, opts MultisigOptions) []byte {
	m := c.Multisig
	o := open(dst)
	o.address("address", c.Account)
	if m.AnySeqno {
		o.word("next_order_seqno", "-1") // as the contract tells it
	} else {
		o.amount("next_order_seqno", m.NextOrderSeqno)
	}
	o.int("threshold", int64(m.Threshold))
	o.addresses("signers", m.Signers)
	o.addresses("proposers", m.Proposers)
	o.decimal("last_transaction_lt", c.LastTransLt)
	o.hash("code_hash", c.CodeHash)
	o.hash("data_hash", c.DataHash)
	o.key("orders")
	switch {
	case !opts.IncludeOrders:
		o.dst = append(o.dst, "[]"...)
	case len(opts.Orders) == 0:
		o.dst = append(o.dst, "null"...)
	default:
		o.dst = append(o.dst, '[')
		for i, order := range opts.Orders {
			if i > 0 {
				o.dst = append(o.dst, ',')
			}
			o.dst = MultisigOrder(o.dst, order, nil)
		}
		o.dst = append(o.dst, ']')
	}
	return o.close()
}

// MultisigOrder appends an order (contract 3.25). actions is the JSON of what it
// does, nil when that is not asked for.
func MultisigOrder(dst []byte, c *record.Contract, actions []byte) []byte {
	m := c.MultisigOrder
	o := open(dst)
	o.address("address", c.Account)
	o.address("multisig_address", m.Multisig)
	o.amount("order_seqno", m.Seqno)
	o.int("threshold", int64(m.Threshold))
	o.bool("sent_for_execution", m.Sent)
	o.amount("approvals_mask", m.ApprovalsMask)
	o.int("approvals_num", int64(m.ApprovalsNum))
	o.int("expiration_date", int64(m.ExpirationDate))
	o.key("order_boc")
	if len(m.Order) == 0 {
		o.dst = append(o.dst, "null"...)
	} else {
		o.dst = BoC(o.dst, m.Order)
	}
	o.addresses("signers", m.Signers)
	o.decimal("last_transaction_lt", c.LastTransLt)
	o.hash("code_hash", c.CodeHash)
	o.hash("data_hash", c.DataHash)
	o.key("actions")
	if actions == nil {
		o.dst = append(o.dst, "null"...)
	} else {
		o.dst = append(o.dst, actions...)
	}
	return o.close()
}

// Vesting appends a vesting contract (contract 3.26).
func Vesting(dst []byte, c *record.Contract) []byte {
	v := c.Vesting
	o := open(dst)
	o.address("address", c.Account)
	o.int("start_time", int64(v.StartTime))
	o.int("total_duration", int64(v.TotalDuration))
	o.int("unlock_period", int64(v.UnlockPeriod))
	o.int("cliff_duration", int64(v.CliffDuration))
	o.address("sender_address", v.Sender)
	o.address("owner_address", v.Owner)
	o.amount("total_amount", v.TotalAmount)
	whitelist := slices.Clone(v.Whitelist)
	slices.SortFunc(whitelist, func(a, b []byte) int { return bytes.Compare(Address(nil, a), Address(nil, b)) })
	o.addresses("whitelist", whitelist)
	return o.close()
}
