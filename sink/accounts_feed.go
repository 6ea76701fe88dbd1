package sink

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// accountFeed fills the tables of the topic accounts. What a record brings beside
// its accounts is not counted: codes, and accounts of earlier bundles.
type accountFeed struct {
	sheets []*sheet[*account]
	codes  []*sheet[*record.Code]
	// keepsData says whether data of a depth is kept.
	keepsData func(depth uint32) bool
}

func (f *accountFeed) add(r *record.Record, raw []byte) (int, error) {
	batch := r.GetAccounts()
	if batch == nil {
		return 0, errors.New("a record without accounts")
	}
	for _, part := range []struct {
		list  []*record.Account
		field protowire.Number
		late  uint64
	}{{batch.Accounts, fieldElement, 0}, {batch.Late, fieldLate, 1}} {
		if err := f.addAccounts(raw, part.list, part.field, part.late); err != nil {
			return 0, err
		}
	}
	for _, c := range batch.Codes {
		if len(c.Hash) != 32 {
			return 0, fmt.Errorf("a code with a hash of %d bytes", len(c.Hash))
		}
		for _, s := range f.codes {
			s.add(c)
		}
	}
	return len(batch.Accounts), nil
}

func (f *accountFeed) addAccounts(raw []byte, list []*record.Account, field protowire.Number, late uint64) error {
	parts, err := elementsOf(raw, fieldAccounts, field)
	if err != nil {
		return err
	}
	if len(parts) != len(list) {
		return fmt.Errorf("%d accounts instead of %d", len(parts), len(list))
	}
	for i, a := range list {
		if len(a.Account) != schema.AddressSize || len(a.Hash) != 32 || a.State == nil {
			return fmt.Errorf("account %x of lt %d: address, hash or state is missing", a.Account, a.LastTransLt)
		}
		if len(a.Data) > 0 && !f.keepsData(a.DataDepth) {
			a.Data = nil
			if parts[i], err = a.MarshalVT(); err != nil {
				return fmt.Errorf("account %x: %w", a.Account, err)
			}
		}
		row := &account{Account: a, raw: text(parts[i]), version: a.LastTransLt<<1 | late}
		row.workchain, row.prefix = address(a.Account)
		for _, s := range f.sheets {
			s.add(row)
		}
	}
	return nil
}

func (f *accountFeed) pages() []page { return asPages(asPages(nil, f.sheets), f.codes) }
