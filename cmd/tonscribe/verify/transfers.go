package verify

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"tonscribe/schema/record"
)

// transferKind says what was ordered; it is the place in transferTables.
type transferKind byte

const (
	jettonTransfer transferKind = iota
	jettonBurn
	nftTransfer
	transferKinds
)

// transfer is what a wallet or an item was told to do: as a row of the tables of
// transfers has it, or as its transaction says.
type transfer struct {
	kind                       transferKind
	account                    []byte
	lt                         uint64
	hash                       []byte
	now                        uint32
	mcSeqno, transactionBundle uint32 // mcSeqno of rows only
	aborted                    bool
	queryID                    uint64
	amount, forwardAmount      []byte
	from, to, response         []byte
	parent                     []byte // jetton master or collection
	delivery                   record.Delivery
	receipt                    *record.Receipt
}

// digest is that of what the transaction and its message say.
func (t *transfer) digest() uint64 {
	var b bytes.Buffer
	for _, part := range [][]byte{t.hash, t.amount, t.forwardAmount, t.from, t.to, t.response} {
		b.WriteByte(byte(len(part)))
		b.Write(part)
	}
	var numbers [17]byte
	binary.BigEndian.PutUint32(numbers[:], t.now)
	binary.BigEndian.PutUint32(numbers[4:], t.transactionBundle)
	binary.BigEndian.PutUint64(numbers[8:], t.queryID)
	numbers[16] = byte(flag(t.aborted))
	b.Write(numbers[:])
	return digest(b.Bytes())
}

// unlike names the first field in which a row differs from its transaction.
func (t *transfer) unlike(order *transfer) string {
	for _, f := range []struct {
		name        string
		have, wants any
	}{
		{"transaction_hash", fmt.Sprintf("%x", t.hash), fmt.Sprintf("%x", order.hash)},
		{"now", t.now, order.now}, {"transaction_mc_seqno", t.transactionBundle, order.transactionBundle},
		{"aborted", t.aborted, order.aborted}, {"query_id", t.queryID, order.queryID},
		{"amount", fmt.Sprintf("0x%x", t.amount), fmt.Sprintf("0x%x", order.amount)},
		{"source", fmt.Sprintf("%x", t.from), fmt.Sprintf("%x", order.from)},
		{"destination", fmt.Sprintf("%x", t.to), fmt.Sprintf("%x", order.to)},
		{"response_destination", fmt.Sprintf("%x", t.response), fmt.Sprintf("%x", order.response)},
		{"forward_amount", fmt.Sprintf("0x%x", t.forwardAmount), fmt.Sprintf("0x%x", order.forwardAmount)},
	} {
		if f.have != f.wants {
			return fmt.Sprintf("%s is %v, but the transaction says %v", f.name, f.have, f.wants)
		}
	}
	return ""
}

func transferOfJetton(t *record.JettonTransfer) *transfer {
	return &transfer{jettonTransfer, t.SourceWallet, t.Lt, t.TransactionHash, t.Now, t.McSeqno, t.TransactionMcSeqno, t.Aborted, t.QueryId,
		t.Amount, t.ForwardAmount, t.Source, t.Destination, t.ResponseDestination, t.Master, t.Delivery, t.Receipt}
}

func transferOfBurn(b *record.JettonBurn) *transfer {
	return &transfer{jettonBurn, b.Wallet, b.Lt, b.TransactionHash, b.Now, b.McSeqno, b.TransactionMcSeqno, b.Aborted, b.QueryId,
		b.Amount, nil, b.Owner, nil, b.ResponseDestination, b.Master, b.Delivery, b.Receipt}
}

func transferOfItem(t *record.NFTTransfer) *transfer {
	return &transfer{nftTransfer, t.Item, t.Lt, t.TransactionHash, t.Now, t.McSeqno, t.TransactionMcSeqno, t.Aborted, t.QueryId,
		nil, t.ForwardAmount, t.OldOwner, t.NewOwner, t.ResponseDestination, t.Collection, t.Delivery, nil}
}
