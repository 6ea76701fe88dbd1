// Package stored is the form in which the tables keep the record of a
// transaction: the protobuf Transaction (schema/record) without what its own
// bytes tell. In comes what decode wrote, out goes an eighth less, and back again
// the same record. A message body, a bag of cells, is kept without its checksum,
// and its hash is that of its root; a StateInit likewise. The hash of a message is
// that of the cell which its fields make, so one byte stands in its place
// (layout). The package must never lose anything that it cannot make again: what
// does not come out equal is kept.
package stored

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// Fields of Transaction and Message in record.proto.
const (
	fieldAccount     protowire.Number = 1
	fieldHash        protowire.Number = 3
	fieldInMsg       protowire.Number = 28
	fieldOutMsg      protowire.Number = 29
	fieldMessageHash protowire.Number = 2
	fieldHashNorm    protowire.Number = 3
	fieldBody        protowire.Number = 18
	fieldBodyHash    protowire.Number = 19
	fieldInit        protowire.Number = 20
	fieldInitHash    protowire.Number = 21
)

const (
	hashSize     = 32
	checksumSize = 4
	// bagMagic begins a bag of cells; the byte after it has the flag.
	bagMagic    = 0xb5ee9c72
	bagChecksum = 0x40 // flag: a CRC-32C follows
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)

	errShort   = errors.New("account or hash is missing")
	errBag     = errors.New("not a bag of cells")
	errHash    = errors.New("a message without hash or body hash")
	errLayout  = errors.New("a message of unknown layout")
	errRecords = errors.New("the record is not that of the bytes")
)

// Pack writes the stored form of an encoded Transaction, which transaction was
// read from, behind dst. It begins with the address of the account and the hash,
// so that statements find both: bytes 7 to 38 are the account id, 41 to 72 the
// hash, counted from 1.
func Pack(dst, encoded []byte, transaction *record.Transaction) ([]byte, error) {
	if len(transaction.Account) != schema.AddressSize || len(transaction.Hash) != hashSize {
		return dst, fmt.Errorf("transaction %x: %w", transaction.Hash, errShort)
	}
	m := makers.Get().(*maker)
	defer makers.Put(m)
	packed, err := m.packTransaction(dst, encoded, transaction)
	if err != nil {
		return dst, fmt.Errorf("transaction %x: %w", transaction.Hash, err)
	}
	return packed, nil
}

// Unpack reads a stored form. Bodies and hashes become what they were.
func Unpack(transaction *record.Transaction, stored []byte) error {
	if err := transaction.UnmarshalVT(stored); err != nil {
		return err
	}
	m := makers.Get().(*maker)
	defer makers.Put(m)
	if transaction.InMsg != nil {
		if err := m.unpack(transaction.InMsg); err != nil {
			return fmt.Errorf("transaction %x: %w", transaction.Hash, err)
		}
	}
	for _, message := range transaction.OutMsgs {
		if err := m.unpack(message); err != nil {
			return fmt.Errorf("transaction %x: %w", transaction.Hash, err)
		}
	}
	return nil
}

// maker makes again what is left out of messages.
type maker struct {
	body, init cell.Bag
	root       root
	packed     []byte // a message
}

var makers = sync.Pool{New: func() any { return new(maker) }}

func (m *maker) packTransaction(dst, encoded []byte, t *record.Transaction) ([]byte, error) {
	dst = appendBytes(dst, fieldAccount, t.Account)
	dst = appendBytes(dst, fieldHash, t.Hash)
	in, outs := t.InMsg, t.OutMsgs
	for rest := encoded; len(rest) > 0; {
		n, field, value, err := next(rest)
		if err != nil {
			return dst, err
		}
		rest = rest[len(field):]
		var message *record.Message
		switch n {
		case fieldAccount, fieldHash:
			if n == fieldAccount && !bytes.Equal(value, t.Account) || n == fieldHash && !bytes.Equal(value, t.Hash) {
				return dst, errRecords
			}
			continue
		case fieldInMsg:
			message, in = in, nil
		case fieldOutMsg:
			if len(outs) > 0 {
				message, outs = outs[0], outs[1:]
			}
		default:
			dst = append(dst, field...)
			continue
		}
		if message == nil {
			return dst, errRecords
		}
		if m.packed, err = m.pack(m.packed[:0], value, message); err != nil {
			return dst, err
		}
		dst = appendBytes(dst, n, m.packed)
	}
	if in != nil || len(outs) > 0 {
		return dst, errRecords
	}
	return dst, nil
}

// pack writes a message without what unpack makes again.
func (m *maker) pack(dst, encoded []byte, message *record.Message) ([]byte, error) {
	if len(message.Hash) != hashSize || len(message.BodyHash) != hashSize {
		return dst, errHash
	}
	body, known := whole(&m.body, message.Body, message.BodyHash)
	l, made := layout(0), false
	if known {
		l, made = m.layoutOf(message, body)
	}
	for rest := encoded; len(rest) > 0; {
		n, field, value, err := next(rest)
		if err != nil {
			return dst, err
		}
		rest = rest[len(field):]
		switch {
		case n == fieldMessageHash && !bytes.Equal(value, message.Hash), n == fieldBody && !bytes.Equal(value, message.Body),
			n == fieldInit && !bytes.Equal(value, message.InitState):
			return dst, errRecords
		case n == fieldMessageHash && made:
			dst = append(protowire.AppendTag(dst, n, protowire.BytesType), 1, byte(l))
		case n == fieldBody && known, n == fieldInit && made:
			dst = appendBytes(dst, n, value[:len(value)-checksumSize])
		case n == fieldBodyHash && known, n == fieldInitHash && made, n == fieldHashNorm && l&normMade != 0:
		default:
			dst = append(dst, field...)
		}
	}
	return dst, nil
}

// whole gives the root of a bag of cells that ends with its own checksum and has
// the hash.
func whole(bag *cell.Bag, boc, hash []byte) (cell.Cell, bool) {
	if len(boc) <= 2*checksumSize || binary.BigEndian.Uint32(boc) != bagMagic || boc[4]&bagChecksum == 0 || bag.Parse(boc) != nil {
		return cell.Cell{}, false
	}
	root, err := bag.Single()
	return root, err == nil && bytes.Equal(root.Hash()[:], hash)
}

// layoutOf finds the layout that gives a message its hash.
func (m *maker) layoutOf(message *record.Message, body cell.Cell) (layout, bool) {
	var init cell.Cell
	choices := initInRef
	if len(message.InitState) > 0 {
		var known bool
		if init, known = whole(&m.init, message.InitState, message.InitStateHash); !known {
			return 0, false
		}
		choices = normMade
	} else if len(message.InitStateHash) > 0 {
		return 0, false
	}
	for l := range choices {
		if hash, err := m.root.hash(message, l, body, init); err != nil || hash != [hashSize]byte(message.Hash) {
			continue
		}
		if len(message.HashNorm) == hashSize {
			if norm, err := m.root.hashNorm(message, body); err == nil && norm == [hashSize]byte(message.HashNorm) {
				l |= normMade
			}
		}
		return l, true
	}
	return 0, false
}

// unpack makes again what pack left out.
func (m *maker) unpack(message *record.Message) error {
	if len(message.BodyHash) > 0 || len(message.Body) == 0 {
		if len(message.Hash) != hashSize {
			return errHash
		}
		return nil
	}
	body, err := reopen(&m.body, &message.Body)
	if err != nil {
		return fmt.Errorf("body: %w", err)
	}
	switch len(message.Hash) {
	case hashSize:
		message.BodyHash = bytes.Clone(body.Hash()[:])
		return nil
	case 1:
		return m.unpackHashes(message, layout(message.Hash[0]), body)
	}
	return errHash
}

func (m *maker) unpackHashes(message *record.Message, l layout, body cell.Cell) error {
	var init cell.Cell
	if len(message.InitState) > 0 {
		var err error
		if init, err = reopen(&m.init, &message.InitState); err != nil {
			return fmt.Errorf("init: %w", err)
		}
		message.InitStateHash = bytes.Clone(init.Hash()[:])
	}
	if l >= layouts || l&initInRef != 0 && !init.Valid() {
		return fmt.Errorf("%w: %d", errLayout, l)
	}
	hash, err := m.root.hash(message, l, body, init)
	if err != nil {
		return err
	}
	if l&normMade != 0 {
		norm, err := m.root.hashNorm(message, body)
		if err != nil {
			return err
		}
		message.HashNorm = bytes.Clone(norm[:])
	}
	both := append(append(make([]byte, 0, 2*hashSize), hash[:]...), body.Hash()[:]...)
	message.Hash, message.BodyHash = both[:hashSize:hashSize], both[hashSize:]
	return nil
}

// reopen gives a bag of cells its checksum back and reads it.
func reopen(bag *cell.Bag, boc *[]byte) (cell.Cell, error) {
	*boc = binary.LittleEndian.AppendUint32(*boc, crc32.Checksum(*boc, castagnoli))
	if err := bag.Parse(*boc); err != nil {
		return cell.Cell{}, fmt.Errorf("%w: %w", errBag, err)
	}
	return bag.Single()
}

// next is the first field of a message: its number, the whole of it, and its
// value when it is of type bytes.
func next(message []byte) (n protowire.Number, field, value []byte, err error) {
	n, kind, tag := protowire.ConsumeTag(message)
	if tag < 0 {
		return 0, nil, nil, protowire.ParseError(tag)
	}
	size := protowire.ConsumeFieldValue(n, kind, message[tag:])
	if size < 0 {
		return 0, nil, nil, protowire.ParseError(size)
	}
	if kind == protowire.BytesType {
		value, _ = protowire.ConsumeBytes(message[tag:])
	}
	return n, message[:tag+size], value, nil
}

func appendBytes(dst []byte, n protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, n, protowire.BytesType), value)
}
