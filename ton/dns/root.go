// Package dns reads the records of names and writes names as resolvers read them
// (TEP-81). In come cells that resolvers return; out come records by category.
// Records are a stranger's: no more than MaxRecords of a name are read. The
// package must never ask a resolver; the addresses in records are for the caller
// to read.
package dns

import (
	"crypto/sha256"

	"github.com/xssnick/tonutils-go/tvm/cell"

	toncell "tonscribe/ton/cell"
)

// MaxRecords is how many records of a name are read. Names have a handful.
const MaxRecords = 256

// Kind is the first 16 bits of a record, zero for what is none.
type Kind uint16

// The kinds of records.
const (
	Address      Kind = 0x9fd3 // dns_smc_address
	ADNL         Kind = 0xad01 // dns_adnl_address
	NextResolver Kind = 0xba93 // dns_next_resolver
	Storage      Kind = 0x7473 // dns_storage_address
	Text         Kind = 0x1eda // dns_text
)

// Category is the hash that stands for a category.
func Category(name string) [32]byte { return sha256.Sum256([]byte(name)) }

// Categories are the names of the known categories by their hashes.
var Categories = func() map[[32]byte]string {
	names := map[[32]byte]string{}
	for _, name := range []string{"wallet", "site", "storage", "dns_next_resolver"} {
		names[Category(name)] = name
	}
	return names
}()

// Entry is a record and its category.
type Entry struct {
	Category [32]byte
	Record   *cell.Cell // nil where the category has something else
}

// Records reads the records of a name in the order of their categories. Its error
// wraps cell.ErrTooManyEntries when there are more than MaxRecords.
func Records(root *cell.Cell) ([]Entry, error) {
	all, err := toncell.Dictionary{Root: root, Bits: 256}.Entries(MaxRecords)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(all))
	for i, e := range all {
		entries[i].Category = [32]byte(e.Key)
		if record, err := e.Value.LoadRefCell(); err == nil {
			entries[i].Record = record
		}
	}
	return entries, nil
}

// Find returns what follows the kind in a category's record, an empty slice when
// there is none of that kind.
func Find(root *cell.Cell, category string, kind Kind) *cell.Slice {
	key := Category(category)
	value, err := toncell.Dictionary{Root: root, Bits: 256}.Find(key[:])
	if err == nil && value != nil {
		if record, err := value.LoadRefCell(); err == nil {
			if found, body := Parse(record); found == kind {
				return body
			}
		}
	}
	return cell.BeginCell().ToSlice()
}

// Parse returns a record's kind and what follows it.
func Parse(record *cell.Cell) (Kind, *cell.Slice) {
	if s, err := record.BeginParse(); err == nil && !record.IsSpecial() {
		if kind, err := s.LoadUInt(16); err == nil {
			return Kind(kind), s
		}
	}
	return 0, cell.BeginCell().ToSlice()
}

// ParseText reads what follows the kind Text: chunks, each with its length, the
// next one in a reference (TL-B Text). A text has at most 255 of them.
func ParseText(s *cell.Slice) (text []byte, err error) {
	chunks, err := s.LoadUInt(8)
	for i := range chunks {
		if i > 0 {
			if s, err = s.LoadRef(); err != nil {
				return nil, err
			}
		}
		length, err := s.LoadUInt(8)
		if err != nil {
			return nil, err
		}
		part, err := s.LoadSlice(uint(length) * 8)
		if err != nil {
			return nil, err
		}
		text = append(text, part...)
	}
	return text, err
}
