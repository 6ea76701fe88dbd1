package decode

import (
	"encoding/binary"
	"fmt"

	"tonscribe/ton/cell"
)

// accountBlocks reads ShardAccountBlocks (HashmapAugE 256 AccountBlock
// CurrencyCollection) and appends the transactions to d.list.
func (d *Decoder) accountBlocks(c cell.Cell) error {
	s := c.Slice()
	if !s.Bool() {
		return s.Err()
	}
	return d.accountNode(s.Next(), [4]uint64{}, 0)
}

// accountNode walks a node of that dictionary; key holds the first bits.
func (d *Decoder) accountNode(s cell.Slice, key [4]uint64, bits int) error {
	if err := d.visit(); err != nil {
		return err
	}
	label, n := s.Label(256 - bits)
	putBits(&key, label, bits)
	bits += n
	if bits == 256 {
		if err := d.accountBlock(&s, key); err != nil {
			return fmt.Errorf("account %016x%016x%016x%016x: %w", key[0], key[1], key[2], key[3], err)
		}
		return nil
	}
	left, right := s.Next(), s.Next()
	if s.Failed() {
		return fmt.Errorf("account blocks: %w", s.Err())
	}
	if err := d.accountNode(left, key, bits+1); err != nil {
		return err
	}
	key[bits/64] |= 1 << (63 - bits%64)
	return d.accountNode(right, key, bits+1)
}

// putBits sets the bits of key from bit at on; they are zero so far.
func putBits(key *[4]uint64, label [4]uint64, at int) {
	word, shift := at/64, uint(at%64)
	for i := word; i < 4; i++ {
		key[i] |= label[i-word] >> shift
		if shift != 0 && i+1 < 4 {
			key[i+1] |= label[i-word] << (64 - shift)
		}
	}
}

// accountBlock reads a leaf: its extra, then acc_trans#5. The account must be
// the key, so that no two leaves are the same cell.
func (d *Decoder) accountBlock(s *cell.Slice, key [4]uint64) error {
	skipCurrencies(s)
	if tag := s.Uint(4); !s.Failed() && tag != 5 {
		return fmt.Errorf("%w: account block tag %x", ErrFormat, tag)
	}
	for _, word := range key {
		if got := s.Uint(64); !s.Failed() && got != word {
			return fmt.Errorf("%w: account block of another account", ErrFormat)
		}
	}
	if s.Failed() {
		return s.Err()
	}
	tag := d.shard.Shard & -d.shard.Shard
	if key[0]&^(tag<<1-1) != d.shard.Shard-tag {
		return fmt.Errorf("%w: not an account of the shard", ErrFormat)
	}
	from := len(d.list)
	if err := d.transactionNode(*s, key, 0, 0); err != nil {
		return err
	}
	d.touched = append(d.touched, touched{key, from, len(d.list)})
	return nil
}

// transactionNode walks a node of HashmapAug 64 ^Transaction CurrencyCollection;
// lt holds the first bits of the key. The root of it is the rest of the account
// block, so what follows the dictionary there is left alone.
func (d *Decoder) transactionNode(s cell.Slice, account [4]uint64, lt uint64, bits int) error {
	if err := d.visit(); err != nil {
		return err
	}
	label, n := s.Label(64 - bits)
	lt |= label[0] >> bits
	bits += n
	if bits == 64 {
		skipCurrencies(&s)
		c := s.Ref()
		if s.Failed() {
			return s.Err()
		}
		return d.accountTransaction(c, account, lt)
	}
	left, right := s.Next(), s.Next()
	if s.Failed() {
		return fmt.Errorf("transactions: %w", s.Err())
	}
	if err := d.transactionNode(left, account, lt, bits+1); err != nil {
		return err
	}
	return d.transactionNode(right, account, lt|1<<(63-bits), bits+1)
}

// accountTransaction decodes a transaction of a block, which must have the
// account and lt it is filed under.
func (d *Decoder) accountTransaction(c cell.Cell, account [4]uint64, lt uint64) error {
	t, err := d.transaction(c, d.shard.Workchain)
	if err != nil {
		return fmt.Errorf("transaction %d: %w", lt, err)
	}
	for i, word := range account {
		if binary.BigEndian.Uint64(t.Account[4+8*i:]) != word {
			return fmt.Errorf("transaction %d: %w: of another account", lt, ErrFormat)
		}
	}
	if t.Lt != lt {
		return fmt.Errorf("transaction %d: %w: lt %d", lt, ErrFormat, t.Lt)
	}
	d.list, d.roots = append(d.list, t), append(d.roots, c)
	return nil
}

// skipCurrencies passes a CurrencyCollection.
func skipCurrencies(s *cell.Slice) {
	s.Skip(int(s.Uint(4)) * 8)
	if s.Bool() {
		s.Ref()
	}
}
