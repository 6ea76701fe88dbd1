package node

import (
	"errors"
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/address"
	toncell "tonscribe/ton/cell"
)

// Transaction is a transaction read from its cell.
type Transaction struct {
	Account                   address.Address
	Cell                      *cell.Cell
	ID, Previous              TransactionID
	Utime                     uint32
	Fee, StorageFee, OtherFee *big.Int
	In                        *Message // nil without one
	Out                       []*Message
}

var errNoTransaction = errors.New("the cell is no transaction")

// ParseTransaction reads a Transaction (TL-B). The cell does not say which
// workchain it is of.
func ParseTransaction(workchain int32, c *cell.Cell) (*Transaction, error) {
	r := parse(c)
	if tag := r.Uint(4); r.Err() == nil && tag != 0b0111 {
		return nil, errNoTransaction
	}
	id := r.Hash()
	t := &Transaction{Account: address.New(workchain, id[:]), Cell: c}
	t.ID.Hash, t.ID.LT = c.HashKey(), r.Uint(64)
	t.Previous.Hash, t.Previous.LT = r.Hash(), r.Uint(64)
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

// maxMessages is how many messages a transaction sends at most: one for each
// of 255 actions.
const maxMessages = 255

// messages reads ^[ in_msg:(Maybe ^(Message Any)) out_msgs:(HashmapE 15 ^(Message Any)) ].
func (t *Transaction) messages(c *cell.Cell) (err error) {
	r := parse(c)
	if r.Bit() {
		in := r.ref()
		if r.Err() != nil {
			return r.Err()
		}
		if t.In, err = parseMessage(in); err != nil {
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
	all, err := toncell.Dictionary{Root: root, Bits: 15}.Entries(maxMessages)
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
		t.Out = append(t.Out, out)
	}
	return nil
}

// fees are those of the transaction and of the messages that it sends.
func (t *Transaction) fees(total, storage *big.Int) {
	t.Fee = new(big.Int).Set(total)
	for _, m := range t.Out {
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
	case 0b0111: // merge_install: split_info, ^prepare_transaction, Maybe
		r.Skip(6 + 6 + 256 + 256)
		there = r.Bit()
	}
	if !there {
		return new(big.Int), r.Err()
	}
	return r.Coins(), r.Err()
}
