package table

import (
	"fmt"
	"math/big"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Transfer is a transfer or a burn of tokens as the tables see it: what a jetton
// wallet or an NFT item was told to do.
type Transfer struct {
	Kind    schema.TransferKind
	Account []byte // the sending wallet or the item
	Lt      uint64
	Hash    []byte // of the transaction
	Now     uint32
	// McSeqno is the bundle with which it became known as it is, TransactionMCSeqno
	// that of the transaction.
	McSeqno, TransactionMCSeqno uint32
	Aborted                     bool
	QueryID                     uint64
	Amount, ForwardAmount       []byte // magnitudes
	From, To, Response          []byte
	Parent                      []byte // jetton master or collection
	Delivery                    record.Delivery
	Receipt                     *record.Receipt
	Raw                         string
}

// check returns an error for a transfer that tables cannot have.
func (t *Transfer) check() (*Transfer, error) {
	if len(t.Account) != schema.AddressSize || !fitsNumber(t.Amount) {
		return nil, fmt.Errorf("%s of %x, lt %d: address or amount is none", [...]string{"jetton transfer", "jetton burn", "NFT transfer"}[t.Kind], t.Account, t.Lt)
	}
	return t, nil
}

// NewJettonTransfer returns the row of a transfer that was read from raw. The
// wallet must be there, and the amount fit 256 bits.
func NewJettonTransfer(t *record.JettonTransfer, raw []byte) (*Transfer, error) {
	return (&Transfer{schema.JettonTransfer, t.SourceWallet, t.Lt, t.TransactionHash, t.Now, t.McSeqno, t.TransactionMcSeqno, t.Aborted, t.QueryId,
		t.Amount, t.ForwardAmount, t.Source, t.Destination, t.ResponseDestination, t.Master, t.Delivery, t.Receipt, text(raw)}).check()
}

// NewJettonBurn returns the row of a burn that was read from raw. The wallet must
// be there, and the amount fit 256 bits.
func NewJettonBurn(b *record.JettonBurn, raw []byte) (*Transfer, error) {
	return (&Transfer{schema.JettonBurn, b.Wallet, b.Lt, b.TransactionHash, b.Now, b.McSeqno, b.TransactionMcSeqno, b.Aborted, b.QueryId,
		b.Amount, nil, b.Owner, nil, b.ResponseDestination, b.Master, b.Delivery, b.Receipt, text(raw)}).check()
}

// NewNFTTransfer returns the row of a transfer that was read from raw. The item
// must be there.
func NewNFTTransfer(t *record.NFTTransfer, raw []byte) (*Transfer, error) {
	return (&Transfer{schema.NFTTransfer, t.Item, t.Lt, t.TransactionHash, t.Now, t.McSeqno, t.TransactionMcSeqno, t.Aborted, t.QueryId,
		nil, t.ForwardAmount, t.OldOwner, t.NewOwner, t.ResponseDestination, t.Collection, t.Delivery, nil, text(raw)}).check()
}

// ReadTransfer reads the record of a row.
func ReadTransfer(kind schema.TransferKind, raw []byte) (*Transfer, error) {
	switch kind {
	case schema.JettonTransfer:
		r := new(record.JettonTransfer)
		if err := r.UnmarshalVT(raw); err != nil {
			return nil, err
		}
		return NewJettonTransfer(r, raw)
	case schema.JettonBurn:
		r := new(record.JettonBurn)
		if err := r.UnmarshalVT(raw); err != nil {
			return nil, err
		}
		return NewJettonBurn(r, raw)
	}
	r := new(record.NFTTransfer)
	if err := r.UnmarshalVT(raw); err != nil {
		return nil, err
	}
	return NewNFTTransfer(r, raw)
}

func addressOfTransfer(t *Transfer) []byte { return t.Account }
func fromOf(t *Transfer) []byte            { return t.From }
func toOf(t *Transfer) []byte              { return t.To }
func parentOf(t *Transfer) []byte          { return t.Parent }

// transferTable declares the table of a kind.
func transferTable(name, doc, account string, lists ...[]column[*Transfer]) *Of[*Transfer] {
	begin := [][]column[*Transfer]{
		{col("lt", UInt64, "logical time of the transaction", func(t *Transfer) uint64 { return t.Lt })},
		accountColumns(account, addressOfTransfer), {
			col("mc_seqno", UInt32, "masterchain block with which it became known as it is", func(t *Transfer) uint32 { return t.McSeqno }),
			col("transaction_mc_seqno", UInt32, "masterchain block that commits the transaction", func(t *Transfer) uint32 { return t.TransactionMCSeqno }),
			col("now", UInt32, "time of the transaction", func(t *Transfer) uint32 { return t.Now }),
			col("aborted", Bool, "whether the transaction was aborted", func(t *Transfer) bool { return t.Aborted }),
		},
	}
	end := []column[*Transfer]{recordCol("the protobuf record of the kind", func(t *Transfer) string { return t.Raw })}
	return declare(Table{Name: name, Doc: doc, Key: []string{"lt", "workchain", "account_prefix"}, Newest: "mc_seqno"}, nil, append(append(begin, lists...), end)...)
}

// jettonColumns are those of both tables of jettons.
var jettonColumns = append([]column[*Transfer]{
	col("delivery", Enum8(0, "in_progress", "delivered", "refused", "returned", "not_sent"), "what became of the message that the wallet sent", func(t *Transfer) int8 { return int8(t.Delivery) }),
}, partyColumns("master", "the jetton master", parentOf)...)

var amountColumn = []column[*Transfer]{col("amount", UInt256, "amount, in the jetton's units", func(t *Transfer) *big.Int { return number(t.Amount) })}

// The tables of transfers and burns.
var (
	JettonTransfers = transferTable("jetton_transfers", "a transfer that a jetton wallet was told to make (TEP-74)", "the sending wallet", jettonColumns, []column[*Transfer]{
		col("source", Hash, "account id of the owner who sends; zeros for none", func(t *Transfer) []byte { return accountID(t.From) }),
		col("destination", Hash, "account id of the owner who receives; zeros for none", func(t *Transfer) []byte { return accountID(t.To) }),
	}, amountColumn)
	JettonBurns = transferTable("jetton_burns", "a burn that a jetton wallet was told to make (TEP-74)", "the wallet", jettonColumns,
		partyColumns("owner", "the owner", fromOf), amountColumn)
	NFTTransfers = transferTable("nft_transfers", "a transfer that an NFT item was told to make (TEP-62)", "the item",
		partyColumns("collection", "the collection", parentOf), partyColumns("old_owner", "the owner before", fromOf), partyColumns("new_owner", "the owner after", toOf))

	// Transfers are all of them, by kind.
	Transfers = [...]*Of[*Transfer]{schema.JettonTransfer: JettonTransfers, schema.JettonBurn: JettonBurns, schema.NFTTransfer: NFTTransfers}
)

// ListEntry is a row of a list of transfers.
type ListEntry struct {
	*Transfer
	List uint64
	// Whole rows have the record, too: those of the lists that are asked for most.
	Whole bool
}

// Lists hands out the transfer's row in every list that it belongs to. An aborted
// jetton transfer is in none.
func (t *Transfer) Lists(add func(*ListEntry)) {
	if t.Aborted && t.Kind == schema.JettonTransfer {
		return
	}
	put := func(owner, parent []byte, direction uint8) {
		add(&ListEntry{t, schema.ListOf(t.Kind, owner, parent, direction), owner != nil && direction == schema.TakesPart})
	}
	put(nil, nil, schema.TakesPart)
	put(t.Account, nil, schema.IsTold)
	if len(t.Parent) == schema.AddressSize {
		put(nil, t.Parent, schema.TakesPart)
	}
	for direction, owner := range [][]byte{schema.Receives: t.To, schema.Sends: t.From} {
		if len(owner) != schema.AddressSize {
			continue
		}
		put(owner, nil, uint8(direction))
		put(owner, nil, schema.TakesPart)
		if len(t.Parent) == schema.AddressSize {
			put(owner, t.Parent, uint8(direction))
		}
	}
}

// TransfersByParty has the lists of transfers and burns.
var TransfersByParty = declare(Table{Name: "transfers_by_party", Doc: "a transfer or burn in one list that it is in, for look-ups of the API: it is there up to nine times",
	Key: []string{"list", "lt", "workchain", "account_prefix"}, Newest: "mc_seqno"}, nil, []column[*ListEntry]{
	col("list", Prefix, "number of the list, made of kind, owner, parent and direction", func(l *ListEntry) uint64 { return l.List }),
	col("lt", UInt64, "logical time of the transaction", func(l *ListEntry) uint64 { return l.Lt }),
	col("workchain", Int32, "workchain of the sending wallet or of the item", func(l *ListEntry) int32 { return schema.Workchain(l.Account) }),
	col("account_prefix", Prefix, "first 8 bytes of its account id", func(l *ListEntry) uint64 { return schema.Prefix(schema.AccountID(l.Account)) }),
	col("mc_seqno", UInt32, "masterchain block with which it became known as it is", func(l *ListEntry) uint32 { return l.McSeqno }),
	col("transaction_mc_seqno", UInt32, "masterchain block that commits the transaction", func(l *ListEntry) uint32 { return l.TransactionMCSeqno }),
	col("now", UInt32, "time of the transaction", func(l *ListEntry) uint32 { return l.Now }),
	col("record", String, "that of the kind's own table in the lists of all that an owner takes part in, else empty", func(l *ListEntry) string {
		if !l.Whole {
			return ""
		}
		return l.Raw
	}),
})
