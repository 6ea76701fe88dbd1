package render

import "tonscribe/schema/record"

// JettonMaster appends a jetton master (contract 3.15).
func JettonMaster(dst []byte, c *record.Contract) []byte {
	m := c.JettonMaster
	o := open(dst)
	o.address("address", c.Account)
	o.amount("total_supply", m.TotalSupply)
	o.bool("mintable", m.Mintable)
	o.address("admin_address", m.Admin)
	o.key("jetton_content")
	o.dst = Content(o.dst, m.Content, "")
	o.hash("jetton_wallet_code_hash", m.WalletCodeHash)
	o.hash("code_hash", c.CodeHash)
	o.hash("data_hash", c.DataHash)
	o.decimal("last_transaction_lt", c.LastTransLt)
	return o.close()
}

// JettonWallet appends a jetton wallet (contract 3.16).
func JettonWallet(dst []byte, c *record.Contract) []byte {
	w := c.JettonWallet
	o := open(dst)
	o.address("address", c.Account)
	o.amount("balance", w.Balance)
	o.address("owner", w.Owner)
	o.address("jetton", w.Master)
	o.decimal("last_transaction_lt", c.LastTransLt)
	o.hash("code_hash", c.CodeHash)
	o.hash("data_hash", c.DataHash)
	return o.close()
}

// TransferOptions are what a transfer's members do not say by themselves.
type TransferOptions struct {
	// Delivery adds how the transfer ended on the receiving side.
	Delivery bool
}

var deliveryNames = [...]string{"in_progress", "delivered", "refused", "returned", "not_sent"}

// JettonTransfer appends a jetton transfer (contract 3.17).
func JettonTransfer(dst []byte, t *record.JettonTransfer, opts TransferOptions) []byte {
	o := open(dst)
	o.decimal("query_id", t.QueryId)
	o.party("source", t.Source)
	o.party("destination", t.Destination)
	o.amount("amount", t.Amount)
	o.address("source_wallet", t.SourceWallet)
	o.address("jetton_master", t.Master)
	o.transaction(t.TransactionHash, t.Lt, t.Now, t.Aborted)
	o.party("response_destination", t.ResponseDestination)
	o.payload("custom_payload", t.CustomPayload)
	o.amount("forward_ton_amount", t.ForwardAmount)
	o.payload("forward_payload", referenced(t.ForwardPayload, t.ForwardPayloadInline))
	o.null("trace_id")
	if opts.Delivery {
		o.delivery(t.Delivery, t.Receipt)
	}
	return o.close()
}

// referenced is a payload that lies in a cell of its own: others are not shown
// (contract 4.11).
func referenced(payload []byte, inline bool) []byte {
	if inline {
		return nil
	}
	return payload
}

// transaction writes the members of the transaction that a transfer is in.
func (o *object) transaction(hash []byte, lt uint64, now uint32, aborted bool) {
	o.hash("transaction_hash", hash)
	o.decimal("transaction_lt", lt)
	o.int("transaction_now", int64(now))
	o.bool("transaction_aborted", aborted)
}

// payload writes a payload and what it says, which is not known.
func (o *object) payload(name string, boc []byte) {
	o.boc(name, boc)
	o.null("decoded_" + name)
}

func (o *object) delivery(d record.Delivery, r *record.Receipt) {
	o.word("delivery", nameOf(deliveryNames[:], d))
	if r == nil {
		o.null("delivery_transaction_hash")
		return
	}
	o.hash("delivery_transaction_hash", r.TransactionHash)
}

// JettonBurn appends a burn (contract 3.18).
func JettonBurn(dst []byte, b *record.JettonBurn, opts TransferOptions) []byte {
	o := open(dst)
	o.decimal("query_id", b.QueryId)
	o.party("owner", b.Owner)
	o.address("jetton_wallet", b.Wallet)
	o.address("jetton_master", b.Master)
	o.transaction(b.TransactionHash, b.Lt, b.Now, b.Aborted)
	o.amount("amount", b.Amount)
	o.party("response_destination", b.ResponseDestination)
	o.payload("custom_payload", b.CustomPayload)
	o.null("trace_id")
	if opts.Delivery {
		o.delivery(b.Delivery, b.Receipt)
	}
	return o.close()
}
