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
	return s.Next().Hashmap(256, &d.budget, false, func(account cell.Key, s cell.Slice) error {
		if err := d.accountBlock(s, account); err != nil {
			return fmt.Errorf("account %016x: %w", account, err)
		}
		return nil
	})
}

// accountBlock reads a leaf: its extra, then acc_trans#5. The account must be
// the key, so that no two leaves are the same cell.
func (d *Decoder) accountBlock(s cell.Slice, key cell.Key) error {
	skipCurrencies(&s)
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
	// The root of the transactions (HashmapAug 64 ^Transaction CurrencyCollection) is
	// the rest of the account block, so what follows them there is left alone.
	err := s.Hashmap(64, &d.budget, false, func(lt cell.Key, s cell.Slice) error {
		skipCurrencies(&s)
		c := s.Ref()
		if s.Failed() {
			return s.Err()
		}
		return d.accountTransaction(c, key, lt[0])
	})
	if err != nil {
		return err
	}
	d.touched = append(d.touched, touched{key, from, len(d.list)})
	return nil
}

// accountTransaction decodes a transaction of a block, which must have the
// account and lt it is filed under.
func (d *Decoder) accountTransaction(c cell.Cell, account cell.Key, lt uint64) error {
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
