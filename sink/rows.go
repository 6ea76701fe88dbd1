package sink

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
)

// header is a block as the tables see it.
type header struct {
	*record.Block
	raw string
	// path and key are those of a row of blocks_index.
	path int8
	key  uint64
}

// transaction is a transaction as the tables see it.
type transaction struct {
	*record.Transaction
	raw       string // in the stored form
	workchain int32
	prefix    uint64 // of the account
	// path and key are those of a row of transactions_index.
	path int8
	key  uint64
}

// Directions of an end: what the transaction that holds it did with the message.
const (
	consumed uint8 = 0
	produced uint8 = 1
)

// end is one end of a message: the message and the transaction that consumed or
// produced it.
type end struct {
	*record.Message
	transaction *transaction
	direction   uint8
	// path, key and norm are those of a row of messages_index.
	path int8
	key  uint64
	norm bool
	// side, near and far are those of a row of messages_by_account.
	side      int8
	near, far place
}

// place is where an account lies, or noWorkchain and 0 for none.
type place struct {
	workchain int32
	prefix    uint64
}

// noHash stands where a hash is not wanted.
var noHash = make([]byte, 32)

// farHash is the hash of the transaction when the account at the other end of
// the message made it.
func (e *end) farHash() []byte {
	if e.side == int8(e.direction) || e.near.workchain == noWorkchain {
		return noHash
	}
	return e.transaction.Hash
}

// noWorkchain marks the absence of an account in the columns of a workchain.
const noWorkchain = -1 << 31

// address is a workchain and an account prefix as the tables keep them.
func address(a []byte) (workchain int32, prefix uint64) {
	if len(a) != schema.AddressSize {
		return noWorkchain, 0
	}
	return schema.Workchain(a), schema.Prefix(schema.AccountID(a))
}

// opcode is -1 for a body that is too short to have one.
func opcode(m *record.Message) int64 {
	if m == nil || m.Opcode == nil {
		return -1
	}
	return int64(*m.Opcode)
}

func placeOf(a []byte) place {
	workchain, prefix := address(a)
	return place{workchain, prefix}
}

func newTransaction(t *record.Transaction, raw []byte) (*transaction, error) {
	if len(t.Account) != schema.AddressSize || len(t.Hash) != 32 || t.Block == nil {
		return nil, fmt.Errorf("transaction %x of lt %d: account, hash or block is missing", t.Hash, t.Lt)
	}
	packed, err := stored.Pack(make([]byte, 0, len(raw)), raw, t)
	if err != nil {
		return nil, err
	}
	workchain, prefix := address(t.Account)
	return &transaction{Transaction: t, raw: text(packed), workchain: workchain, prefix: prefix}, nil
}

func newHeader(b *record.Block, raw []byte) (*header, error) {
	if b.Id == nil || len(b.Id.RootHash) != 32 || len(b.Id.FileHash) != 32 {
		return nil, fmt.Errorf("block of bundle %d: the id is not complete", b.McSeqno)
	}
	return &header{Block: b, raw: text(raw)}, nil
}

// ends hands out the ends of messages that the transaction holds.
func (t *transaction) ends(add func(*end)) error {
	if t.InMsg != nil {
		if err := t.end(t.InMsg, consumed, add); err != nil {
			return err
		}
	}
	for _, m := range t.OutMsgs {
		if err := t.end(m, produced, add); err != nil {
			return err
		}
	}
	return nil
}

func (t *transaction) end(m *record.Message, direction uint8, add func(*end)) error {
	if len(m.Hash) != 32 || len(m.BodyHash) != 32 {
		return fmt.Errorf("transaction %x: a message without hash or body hash", t.Hash)
	}
	add(&end{Message: m, transaction: t, direction: direction})
	return nil
}

// Fields of record.proto that hold the batches and the elements in them.
const (
	fieldBlocks       protowire.Number = 5
	fieldTransactions protowire.Number = 6
	fieldAccounts     protowire.Number = 8
	fieldContracts    protowire.Number = 9
	fieldElement      protowire.Number = 1
	fieldLate         protowire.Number = 3 // of AccountBatch
)

// elements are the encoded elements of a record's batch, cut out of the
// record's bytes, so that the tables keep exactly what decode wrote.
func elements(raw []byte, batch protowire.Number) ([][]byte, error) {
	return elementsOf(raw, batch, fieldElement)
}

func elementsOf(raw []byte, batch, element protowire.Number) ([][]byte, error) {
	batches, err := fields(raw, batch)
	if err != nil || len(batches) != 1 {
		return nil, fmt.Errorf("record of %d bytes: %d batches instead of one: %w", len(raw), len(batches), err)
	}
	return fields(batches[0], element)
}

// fields are the values of every field with the number, which is of type bytes.
func fields(message []byte, number protowire.Number) (values [][]byte, err error) {
	for len(message) > 0 {
		n, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return nil, protowire.ParseError(tag)
		}
		size := protowire.ConsumeFieldValue(n, kind, message[tag:])
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		if n == number && kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message[tag:])
			values = append(values, value)
		}
		message = message[tag+size:]
	}
	return values, nil
}
