package render

import (
	"tonscribe/query/api"
	"tonscribe/query/multisig"
	"tonscribe/schema/record"
)

// MultisigRow is a multisig wallet of an answer.
type MultisigRow struct {
	*record.Contract
	// Orders are the wallet's, oldest first, where IncludeOrders shows them.
	IncludeOrders bool
	Orders        []*record.Contract
}

// OrderRow is an order of an answer.
type OrderRow struct {
	*record.Contract
	// Actions appends what the order does; nil when that is not asked for.
	Actions func(w *api.Writer, order *record.MultisigOrder)
}

// MultisigOrder is an order of a multisig wallet.
var MultisigOrder = api.New("OrderShape",
	api.Address("address", OrderRow.GetAccount),
	api.Address("multisig_address", func(o OrderRow) []byte { return o.MultisigOrder.Multisig }),
	api.Amount("order_seqno", func(o OrderRow) []byte { return o.MultisigOrder.Seqno }).Null(),
	api.Uint32("threshold", func(o OrderRow) uint32 { return o.MultisigOrder.Threshold }).Null(),
	api.Bool("sent_for_execution", func(o OrderRow) bool { return o.MultisigOrder.Sent }).Null(),
	api.Amount("approvals_mask", func(o OrderRow) []byte { return o.MultisigOrder.ApprovalsMask }).Null(),
	api.Uint32("approvals_num", func(o OrderRow) uint32 { return o.MultisigOrder.ApprovalsNum }).Null(),
	api.Int64("expiration_date", func(o OrderRow) uint64 { return o.MultisigOrder.ExpirationDate }).Null().Doc("seconds since 1970"),
	api.PlainBoC("order_boc", func(o OrderRow) []byte { return o.MultisigOrder.Order }).Null(),
	api.Addresses("signers", func(o OrderRow) [][]byte { return o.MultisigOrder.Signers }),
	api.Decimal("last_transaction_lt", OrderRow.GetLastTransLt),
	api.Hash("code_hash", OrderRow.GetCodeHash).Null(),
	api.Hash("data_hash", OrderRow.GetDataHash).Null(),
	api.Written("actions", api.ListOf(multisig.Action), func(w *api.Writer, o OrderRow) bool {
		if o.Actions == nil {
			return false
		}
		o.Actions(w, o.MultisigOrder)
		return true
	}).Null().Doc("null unless they are asked for"),
)

// Multisig is a multisig wallet.
var Multisig = api.New("MultisigShape",
	api.Address("address", MultisigRow.GetAccount),
	amountOr("next_order_seqno", "-1", func(m MultisigRow) ([]byte, bool) { return m.Multisig.NextOrderSeqno, !m.Multisig.AnySeqno }).
		Null().Doc("-1 where orders have any number"),
	api.Uint32("threshold", func(m MultisigRow) uint32 { return m.Multisig.Threshold }).Null(),
	api.Addresses("signers", func(m MultisigRow) [][]byte { return m.Multisig.Signers }),
	api.Addresses("proposers", func(m MultisigRow) [][]byte { return m.Multisig.Proposers }),
	api.Decimal("last_transaction_lt", MultisigRow.GetLastTransLt),
	api.Hash("code_hash", MultisigRow.GetCodeHash).Null(),
	api.Hash("data_hash", MultisigRow.GetDataHash).Null(),
	api.Written("orders", api.ListOf(MultisigOrder), func(w *api.Writer, m MultisigRow) bool {
		if m.IncludeOrders && len(m.Orders) == 0 {
			return false
		}
		api.WriteList(w, MultisigOrder, m.Orders, func(c contract) OrderRow { return OrderRow{Contract: c} })
		return true
	}).Null().Doc("null when there are none"),
)

// Vesting is a vesting contract.
var Vesting = api.New("VestingShape",
	api.Address("address", contract.GetAccount).Null(),
	api.Int64("start_time", func(c contract) uint64 { return c.Vesting.StartTime }).Null(),
	api.Int64("total_duration", func(c contract) uint64 { return c.Vesting.TotalDuration }).Null().Doc("seconds"),
	api.Int64("unlock_period", func(c contract) uint64 { return c.Vesting.UnlockPeriod }).Null().Doc("seconds"),
	api.Int64("cliff_duration", func(c contract) uint64 { return c.Vesting.CliffDuration }).Null().Doc("seconds"),
	api.Address("sender_address", func(c contract) []byte { return c.Vesting.Sender }).Null(),
	api.Address("owner_address", func(c contract) []byte { return c.Vesting.Owner }).Null(),
	api.Amount("total_amount", func(c contract) []byte { return c.Vesting.TotalAmount }).Null(),
	api.Addresses("whitelist", func(c contract) [][]byte { return sorted(c.Vesting.Whitelist) }),
)
