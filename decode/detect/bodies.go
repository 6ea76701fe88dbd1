package detect

import (
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/ton/body"
	toncell "tonscribe/ton/cell"
)

// readBody reads a body behind its opcode. It is false where one of the first
// fields, those before what a transfer carries along, does not fit.
func readBody(opcode uint32, r *toncell.Reader, required int) (body.Fields, bool) {
	f, _ := body.Of(opcode).Read(r)
	return f, len(f) >= required
}

// bocOf returns the bag of a cell, nil for none.
func bocOf(c *cell.Cell) []byte {
	if c == nil {
		return nil
	}
	return c.ToBOC()
}

// readJettonTransfer reads TEP-74 transfer.
func readJettonTransfer(t *record.Transaction, r *toncell.Reader) row {
	f, ok := readBody(body.JettonTransfer, r, 6)
	if !ok {
		return nil
	}
	payload := f.Payload("forward_payload")
	return &record.JettonTransfer{
		SourceWallet: t.Account, Lt: t.Lt, TransactionHash: t.Hash, Now: t.Now, TransactionMcSeqno: t.McSeqno,
		Aborted: t.Aborted, Source: t.InMsg.Source,
		QueryId: f.Uint("query_id"), Amount: f.Amount("amount"), Destination: f.Address("destination"),
		ResponseDestination: f.Address("response_destination"), CustomPayload: bocOf(f.Cell("custom_payload")),
		ForwardAmount:  f.Amount("forward_ton_amount"),
		ForwardPayload: bocOf(payload.Cell), ForwardPayloadInline: payload.Inline,
	}
}

// readJettonBurn reads TEP-74 burn; older wallets have no payload.
func readJettonBurn(t *record.Transaction, r *toncell.Reader) row {
	f, ok := readBody(body.JettonBurn, r, 3)
	if !ok {
		return nil
	}
	return &record.JettonBurn{
		Wallet: t.Account, Lt: t.Lt, TransactionHash: t.Hash, Now: t.Now, TransactionMcSeqno: t.McSeqno,
		Aborted: t.Aborted, Owner: t.InMsg.Source,
		QueryId: f.Uint("query_id"), Amount: f.Amount("amount"), ResponseDestination: f.Address("response_destination"),
		CustomPayload: bocOf(f.Cell("custom_payload")),
	}
}

// readNFTTransfer reads TEP-62 transfer.
func readNFTTransfer(t *record.Transaction, r *toncell.Reader) row {
	f, ok := readBody(body.NFTTransfer, r, 5)
	if !ok {
		return nil
	}
	payload := f.Payload("forward_payload")
	return &record.NFTTransfer{
		Item: t.Account, Lt: t.Lt, TransactionHash: t.Hash, Now: t.Now, TransactionMcSeqno: t.McSeqno,
		Aborted: t.Aborted, OldOwner: t.InMsg.Source,
		QueryId: f.Uint("query_id"), NewOwner: f.Address("new_owner"), ResponseDestination: f.Address("response_destination"),
		CustomPayload: bocOf(f.Cell("custom_payload")), ForwardAmount: f.Amount("forward_amount"),
		ForwardPayload: bocOf(payload.Cell), ForwardPayloadInline: payload.Inline,
	}
}
