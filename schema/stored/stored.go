// Package stored is the form in which the tables keep the record of a
// transaction: the protobuf Transaction (schema/record) without what its own
// bytes tell. In comes what decode wrote, out goes a fifth less, and back again
// the same record. A message body, a bag of cells, is kept without its checksum,
// and its hash is that of its root. The package must never lose anything that it
// cannot make again.
package stored

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"tonscribe/decode/cell"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Fields of Transaction and Message in record.proto.
const (
	fieldAccount  protowire.Number = 1
	fieldHash     protowire.Number = 3
	fieldInMsg    protowire.Number = 28
	fieldOutMsg   protowire.Number = 29
	fieldBody     protowire.Number = 18
	fieldBodyHash protowire.Number = 19
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
	errBody    = errors.New("a message body is not a bag of cells")
	errMessage = errors.New("a message is not of type bytes")
)

// Pack writes the stored form of an encoded Transaction behind dst. It begins
// with the address of the account and the hash, so that statements find both:
// bytes 7 to 38 are the account id, 41 to 72 the hash, counted from 1.
func Pack(dst, transaction []byte) ([]byte, error) {
	start := len(dst)
	account, err := one(transaction, fieldAccount)
	if err != nil {
		return dst, err
	}
	hash, err := one(transaction, fieldHash)
	if err != nil {
		return dst, err
	}
	if len(account) != schema.AddressSize || len(hash) != hashSize {
		return dst, fmt.Errorf("transaction %x: %w", hash, errShort)
	}
	dst = appendBytes(dst, fieldAccount, account)
	dst = appendBytes(dst, fieldHash, hash)
	err = fields(transaction, func(n protowire.Number, field, value []byte) error {
		switch n {
		case fieldAccount, fieldHash:
		case fieldInMsg, fieldOutMsg:
			if value == nil {
				return errMessage
			}
			dst, err = packMessage(dst, n, value)
			return err
		default:
			dst = append(dst, field...)
		}
		return nil
	})
	if err != nil {
		return dst[:start], err
	}
	return dst, nil
}

func packMessage(dst []byte, n protowire.Number, message []byte) ([]byte, error) {
	body, err := one(message, fieldBody)
	if err != nil {
		return dst, err
	}
	if !hasChecksum(body) {
		return appendBytes(dst, n, message), nil
	}
	hash, err := one(message, fieldBodyHash)
	if err != nil {
		return dst, err
	}
	size := len(message) - sizeOf(fieldBody, len(body)) - sizeOf(fieldBodyHash, len(hash)) + sizeOf(fieldBody, len(body)-checksumSize)
	dst = protowire.AppendVarint(protowire.AppendTag(dst, n, protowire.BytesType), uint64(size))
	err = fields(message, func(n protowire.Number, field, _ []byte) error {
		switch n {
		case fieldBodyHash:
		case fieldBody:
			dst = appendBytes(dst, n, body[:len(body)-checksumSize])
		default:
			dst = append(dst, field...)
		}
		return nil
	})
	return dst, err
}

// hasChecksum says that a bag of cells ends with its own right checksum.
func hasChecksum(bag []byte) bool {
	end := len(bag) - checksumSize
	return end > checksumSize && binary.BigEndian.Uint32(bag) == bagMagic && bag[4]&bagChecksum != 0 &&
		binary.LittleEndian.Uint32(bag[end:]) == crc32.Checksum(bag[:end], castagnoli)
}

// bags are those that bodies are parsed into.
var bags = sync.Pool{New: func() any { return new(cell.Bag) }}

// Unpack reads a stored form. Bodies and hashes become what they were.
func Unpack(transaction *record.Transaction, stored []byte) error {
	if err := transaction.UnmarshalVT(stored); err != nil {
		return err
	}
	bag := bags.Get().(*cell.Bag)
	defer bags.Put(bag)
	if transaction.InMsg != nil {
		if err := unpackMessage(bag, transaction.InMsg); err != nil {
			return fmt.Errorf("transaction %x: %w", transaction.Hash, err)
		}
	}
	for _, m := range transaction.OutMsgs {
		if err := unpackMessage(bag, m); err != nil {
			return fmt.Errorf("transaction %x: %w", transaction.Hash, err)
		}
	}
	return nil
}

func unpackMessage(bag *cell.Bag, m *record.Message) error {
	if len(m.BodyHash) > 0 || len(m.Body) == 0 {
		return nil
	}
	m.Body = binary.LittleEndian.AppendUint32(m.Body, crc32.Checksum(m.Body, castagnoli))
	if err := bag.Parse(m.Body); err != nil {
		return fmt.Errorf("%w: %w", errBody, err)
	}
	root, err := bag.Single()
	if err != nil {
		return fmt.Errorf("%w: %w", errBody, err)
	}
	m.BodyHash = append([]byte(nil), root.Hash()[:]...)
	return nil
}

// one is the value of a field of type bytes that comes once, or nil.
func one(message []byte, number protowire.Number) (found []byte, err error) {
	err = fields(message, func(n protowire.Number, _, value []byte) error {
		if n == number {
			found = value
		}
		return nil
	})
	return found, err
}

// fields hands out the fields of a message, whole, and their values where they
// are of type bytes.
func fields(message []byte, each func(n protowire.Number, field, value []byte) error) error {
	for len(message) > 0 {
		n, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return protowire.ParseError(tag)
		}
		size := protowire.ConsumeFieldValue(n, kind, message[tag:])
		if size < 0 {
			return protowire.ParseError(size)
		}
		var value []byte
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(message[tag:])
		}
		if err := each(n, message[:tag+size], value); err != nil {
			return err
		}
		message = message[tag+size:]
	}
	return nil
}

func appendBytes(dst []byte, n protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, n, protowire.BytesType), value)
}

// sizeOf is what a field of so many bytes takes, 0 for none.
func sizeOf(n protowire.Number, size int) int {
	if size == 0 {
		return 0
	}
	return protowire.SizeTag(n) + protowire.SizeBytes(size)
}
