package v2

import (
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"

	toncell "tonscribe/ton/cell"
)

// transactionID is where a transaction is: its account's time and its hash.
type transactionID struct {
	_    typed    `type:"internal.transactionId"`
	LT   uint64   `json:"lt,string"`
	Hash [32]byte `json:"hash"`
}

// transactionParts are what all forms of a transaction have in common.
type transactionParts struct {
	Address    accountAddress `json:"address"`
	Utime      uint32         `json:"utime"`
	Data       *cell.Cell     `json:"data"`
	ID         transactionID  `json:"transaction_id"`
	Fee        *big.Int       `json:"fee"`
	StorageFee *big.Int       `json:"storage_fee"`
	OtherFee   *big.Int       `json:"other_fee"`
}

// rawTransaction is a transaction of getTransactionsStd.
type rawTransaction struct {
	_ typed `type:"raw.transaction"`
	transactionParts
	InMsg   *rawMessage   `json:"in_msg,omitempty"`
	OutMsgs []*rawMessage `json:"out_msgs"`
}

// rawTransactionExt is a transaction of a block's list.
type rawTransactionExt struct {
	_       typed  `type:"raw.transactionExt"`
	Account string `json:"account"`
	transactionParts
	InMsg   *rawMessage   `json:"in_msg,omitempty"`
	OutMsgs []*rawMessage `json:"out_msgs"`
}

// extTransaction is a transaction of getTransactions and of the tryLocate
// methods.
type extTransaction struct {
	_       typed  `type:"ext.transaction"`
	Account string `json:"account"`
	transactionParts
	InMsg   *extMessage   `json:"in_msg,omitempty"`
	OutMsgs []*extMessage `json:"out_msgs"`
}

// transaction is a transaction read from its cell.
type transaction struct {
	transactionParts
	account  Address
	previous transactionID
	in       *message
	out      []*message
}

// parseTransaction reads a Transaction (TL-B). The cell does not say which
// workchain it is of.
func parseTransaction(workchain int32, c *cell.Cell) (*transaction, error) {
	r := parse(c)
	if tag := r.Uint(4); r.Err() == nil && tag != 0b0111 {
		return nil, errNoTransaction
	}
	t := &transaction{}
	t.account.Workchain, t.account.ID = workchain, r.Hash()
	t.Address.Address = t.account.bounceable()
	t.Data, t.ID.Hash, t.ID.LT = c, c.HashKey(), r.Uint(64)
	t.previous.Hash, t.previous.LT = r.Hash(), r.Uint(64)
	t.Utime = uint32(r.Uint(32))
	r.Skip(15 + 2 + 2) // outmsg_cnt, orig_status, end_status
	messages := r.ref()
	fees, _ := r.currencies()
	r.ref() // state_update
	description := r.ref()
	if r.Err() != nil {
		return nil, r.Err()
	}
	if err := t.messages(messages); err != nil {
		return nil, err
	}
	storage, err := storageFee(description)
	t.fees(fees, storage)
	return t, err
}

// mostMessages is how many messages a transaction sends at most: one for each
// of 255 actions.
const mostMessages = 255

// messages reads ^[ in_msg:(Maybe ^(Message Any)) out_msgs:(HashmapE 15 ^(Message Any)) ].
func (t *transaction) messages(c *cell.Cell) (err error) {
	r := parse(c)
	if r.Bit() {
		in := r.ref()
		if r.Err() != nil {
			return r.Err()
		}
		if t.in, err = parseMessage(in); err != nil {
			return err
		}
	}
	if !r.Bit() {
		return r.Err()
	}
	root := r.ref()
	if r.Err() != nil {
		return r.Err()
	}
	all, err := toncell.Dictionary{Root: root, Bits: 15}.Entries(mostMessages)
	if err != nil {
		return err
	}
	for _, e := range all {
		c, err := e.Value.LoadRefCell()
		if err != nil {
			return err
		}
		out, err := parseMessage(c)
		if err != nil {
			return err
		}
		t.out = append(t.out, out)
	}
	return nil
}

// fees are those of the transaction and of the messages that it sends.
func (t *transaction) fees(total, storage *big.Int) {
	t.Fee = new(big.Int).Set(total)
	for _, m := range t.out {
		if !m.external {
			t.Fee.Add(t.Fee, m.FwdFee)
			t.Fee.Add(t.Fee, m.IhrFee)
		}
	}
	t.StorageFee = storage
	t.OtherFee = new(big.Int).Sub(t.Fee, storage)
}

// storageFee is storage_fees_collected of a TransactionDescr.
func storageFee(c *cell.Cell) (*big.Int, error) {
	r := parse(c)
	there := false
	switch tag := r.Uint(4); tag {
	case 0b0000: // ord: credit_first, Maybe
		r.Skip(1)
		there = r.Bit()
	case 0b0001: // storage
		there = true
	case 0b0010, 0b0011: // tick_tock, whose tag has three bits, and is_tock
		there = true
	case 0b0100: // split_prepare: split_info, Maybe
		r.Skip(6 + 6 + 256 + 256)
		there = r.Bit()
	case 0b0110: // merge_prepare: split_info
		r.Skip(6 + 6 + 256 + 256)
		there = true
	}
	if !there {
		return new(big.Int), r.Err()
	}
	return r.Coins(), r.Err()
}

func (t *transaction) raw() *rawTransaction {
	in, out := t.rawMessages()
	return &rawTransaction{transactionParts: t.transactionParts, InMsg: in, OutMsgs: out}
}

func (t *transaction) rawExt() *rawTransactionExt {
	in, out := t.rawMessages()
	return &rawTransactionExt{Account: t.account.upper(), transactionParts: t.transactionParts, InMsg: in, OutMsgs: out}
}

func (t *transaction) rawMessages() (in *rawMessage, out []*rawMessage) {
	if t.in != nil {
		in = t.in.raw()
	}
	for _, m := range t.out {
		out = append(out, m.raw())
	}
	return in, out
}

func (t *transaction) ext() *extTransaction {
	e := &extTransaction{Account: t.account.upper(), transactionParts: t.transactionParts}
	if t.in != nil {
		e.InMsg = t.in.ext()
	}
	for _, m := range t.out {
		e.OutMsgs = append(e.OutMsgs, m.ext())
	}
	return e
}
