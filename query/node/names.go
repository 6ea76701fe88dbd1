package node

import (
	"context"
	"encoding/hex"
	"errors"
	"math/big"
	"strings"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/address"
	toncell "tonscribe/ton/cell"
	tondns "tonscribe/ton/dns"
)

// Record is a record of a name (TEP-81).
type Record struct {
	Kind    tondns.Kind     // zero for one that is unknown
	Address address.Address // of a contract, or of the next resolver
	Hash    [32]byte        // an ADNL address, or a bag of the storage
	Text    string
	Cell    *cell.Cell
}

// NameEntry is a record of a name, or of the part of it that was resolved.
type NameEntry struct {
	Name     string
	Category [32]byte
	Record   Record
}

// ErrNameRecords is the answer to a name with more records than are read.
var ErrNameRecords = failed("Failed to unpack the records: the name has more than %d", tondns.MaxRecords)

// maxResolvers is how many resolvers hand over to each other at most.
const maxResolvers = 8

// Resolve asks a resolver for a name in the form that resolvers get; resolvers that
// it hands over to are asked too, up to hops of them.
func (n *Node) Resolve(ctx context.Context, s *Account, name []byte, hops int) ([]NameEntry, error) {
	for hops = min(hops, maxResolvers); ; hops-- {
		argument := cell.BeginCell().MustStoreSlice(name, uint(len(name))*8).ToSlice()
		v, err := n.ask(ctx, s, "dnsresolve", 2, argument, new(big.Int))
		if v == nil {
			return nil, err
		}
		bits := v.number(0).Int64()
		root := v.cell(1)
		if v.bad || bits <= 0 || bits%8 != 0 || bits/8 > int64(len(name)) {
			return nil, nil
		}
		resolved, rest := name[:bits/8], name[bits/8:]
		if len(rest) == 0 || hops == 0 {
			return entriesOf(root, tondns.Decode(resolved))
		}
		name = rest
		next, ok := nextResolver(root)
		if !ok {
			return nil, nil
		}
		if s, err = n.accountAt(ctx, s.Master, next); err != nil {
			return nil, err
		}
	}
}

func nextResolver(c *cell.Cell) (address.Address, bool) {
	kind, body := tondns.Parse(c)
	if kind != tondns.NextResolver {
		return address.Address{}, false
	}
	return readerOf(body).address()
}

// entriesOf are the records of a name, or of the part of it that was resolved.
func entriesOf(root *cell.Cell, name string) (list []NameEntry, err error) {
	if _, ok := nextResolver(root); ok {
		return []NameEntry{{name, tondns.Category("dns_next_resolver"), recordOf(root)}}, nil
	}
	records, err := tondns.Records(root)
	switch {
	case errors.Is(err, toncell.ErrTooManyEntries):
		return nil, ErrNameRecords
	case err != nil:
		return nil, nil //nolint:nilerr // a name without records
	}
	for _, e := range records {
		if e.Record != nil {
			list = append(list, NameEntry{name, e.Category, recordOf(e.Record)})
		}
	}
	return list, nil
}

// categoryName is the name of a category of records, its hash in hex if it has none
// that is known.
func categoryName(category [32]byte) string {
	if name, known := tondns.Categories[category]; known {
		return name
	}
	return strings.ToUpper(hex.EncodeToString(category[:]))
}

// recordOf reads a record. What does not fit is unknown.
func recordOf(c *cell.Cell) Record {
	kind, body := tondns.Parse(c)
	r, record := readerOf(body), Record{Kind: kind, Cell: c}
	switch kind {
	case tondns.Text:
		text, err := tondns.ParseText(body)
		r.Fail(err)
		record.Text = strings.ToValidUTF8(string(text), "\uFFFD")
	case tondns.Address, tondns.NextResolver:
		var ok bool
		if record.Address, ok = r.address(); !ok {
			record.Kind = 0
		}
	case tondns.ADNL, tondns.Storage:
		record.Hash = r.Hash()
	default:
		record.Kind = 0
	}
	if r.Err() != nil {
		record.Kind = 0
	}
	return record
}
