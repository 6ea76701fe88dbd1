package sink

import (
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// The tables, by the row they are filled from. A new table is a file and a name
// here.
var (
	headerTables = []table[*header]{blocks, blocksIndex}

	transactionTables = []table[*transaction]{transactions, transactionsIndex}

	accountTables = []table[*account]{accounts, accountsByBalance}

	codeTables = []table[*record.Code]{codes}

	endTables = []table[*end]{messagesIndex, messagesByAccount}
)

// feed fills the sheets of a topic's tables.
type feed interface {
	// add takes the rows of a record and says how many of them a seal counts.
	add(r *record.Record, raw []byte) (rows int, err error)
	pages() []page
}

// feedOf says how the records of a topic become rows.
func (c Configuration) feedOf(topic string) (feed, error) {
	switch topic {
	case schema.Headers.Name:
		return &headerFeed{newSheets(headerTables)}, nil
	case schema.Transactions.Name:
		return &transactionFeed{newSheets(transactionTables), newSheets(endTables)}, nil
	case schema.Accounts.Name:
		return &accountFeed{newSheets(accountTables), newSheets(codeTables), c.keepsData}, nil
	case schema.Contracts.Name:
		return newContractFeed(), nil
	}
	return nil, fmt.Errorf("topic %s has no tables", topic)
}

type headerFeed struct {
	sheets []*sheet[*header]
}

func (f *headerFeed) add(r *record.Record, raw []byte) (int, error) {
	list := r.GetBlocks().GetBlocks()
	parts, err := elements(raw, fieldBlocks)
	if err != nil {
		return 0, err
	}
	if len(parts) != len(list) {
		return 0, fmt.Errorf("%d blocks instead of %d", len(parts), len(list))
	}
	for i, b := range list {
		row, err := newHeader(b, parts[i])
		if err != nil {
			return 0, err
		}
		for _, s := range f.sheets {
			s.add(row)
		}
	}
	return len(list), nil
}

func (f *headerFeed) pages() []page { return asPages(nil, f.sheets) }

type transactionFeed struct {
	sheets []*sheet[*transaction]
	ends   []*sheet[*end]
}

func (f *transactionFeed) add(r *record.Record, raw []byte) (int, error) {
	list := r.GetTransactions().GetTransactions()
	parts, err := elements(raw, fieldTransactions)
	if err != nil {
		return 0, err
	}
	if len(parts) != len(list) {
		return 0, fmt.Errorf("%d transactions instead of %d", len(parts), len(list))
	}
	for i, t := range list {
		row, err := newTransaction(t, parts[i])
		if err != nil {
			return 0, err
		}
		for _, s := range f.sheets {
			s.add(row)
		}
		if err := row.ends(f.addEnd); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

func (f *transactionFeed) addEnd(e *end) {
	for _, s := range f.ends {
		s.add(e)
	}
}

func (f *transactionFeed) pages() []page { return asPages(asPages(nil, f.sheets), f.ends) }

func asPages[R any](pages []page, sheets []*sheet[R]) []page {
	for _, s := range sheets {
		pages = append(pages, s)
	}
	return pages
}
