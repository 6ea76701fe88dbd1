package v3

import (
	"context"

	"golang.org/x/sync/errgroup"

	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/query/store"
	"tonscribe/schema/record"
)

// contractList is an answer that is a page of a list of contracts.
type contractList struct {
	name     string // of the list
	metadata bool   // the answer has it
	// read reads a page, and says whether there are more after it.
	read func(page store.Page, after *store.ContractKey) ([]*record.Contract, bool, error)
	// keyOf is the place of the last one, for the cursor.
	keyOf func(*record.Contract) store.ContractKey
	// render appends one and gathers its addresses.
	render func(dst []byte, c *record.Contract, book addresses) []byte
	// before is called with the page before it is rendered. May be nil.
	before func([]*record.Contract) error
}

// serveContracts answers a page.
func (q *request) serveContracts(byDefault params.Sort, l *contractList) error {
	page, part, err := q.page(byDefault)
	if err != nil {
		return err
	}
	var key store.ContractKey
	var after *store.ContractKey
	if there, err := q.after(page, &key); err != nil {
		return err
	} else if there {
		after = &key
	}
	list, more, err := l.read(part, after)
	if err != nil {
		return err
	}
	if l.before != nil {
		if err := l.before(list); err != nil {
			return err
		}
	}
	known := make(map[store.Address]*record.Contract, len(list))
	for _, c := range list {
		known[store.Address(c.Account)] = c
	}
	book := addresses{}
	q.body = append(append(append(q.body, `{"`...), l.name...), `":[`...)
	for i, c := range list {
		if i > 0 {
			q.body = append(q.body, ',')
		}
		q.body = l.render(q.body, c, book)
	}
	q.body = append(q.body, ']')
	if err := q.bookAndMetadata(book, known, l.metadata); err != nil {
		return err
	}
	if more {
		q.nextCursor(page.Sort, l.keyOf(list[len(list)-1]))
	}
	q.body = append(q.body, '}')
	return nil
}

// bookAndMetadata appends the members address_book and, where the answer has it,
// metadata; what is known of some of the addresses need not be read again.
func (q *request) bookAndMetadata(book addresses, known map[store.Address]*record.Contract, metadata bool) error {
	if !metadata {
		return q.addressBook(book)
	}
	var rows []byte
	group, ctx := errgroup.WithContext(q)
	group.Go(func() (err error) {
		rows, err = q.metadataOf(ctx, book, known)
		return err
	})
	err := q.addressBook(book)
	if waited := group.Wait(); err == nil {
		err = waited
	}
	q.body = append(append(q.body, `,"metadata":`...), rows...)
	return err
}

// contractsOf reads contracts that a page names besides its own, all at once.
func (q *request) contractsOf(list []*record.Contract, of func(*record.Contract) []byte) (map[store.Address]*record.Contract, error) {
	wanted := addresses{}
	for _, c := range list {
		wanted.add(of(c))
	}
	return q.contracts(q, wanted)
}

func (q *request) contracts(ctx context.Context, wanted addresses) (map[store.Address]*record.Contract, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	list := make([]store.Address, 0, len(wanted))
	for a := range wanted {
		list = append(list, a)
	}
	return q.store.Contracts(ctx, list)
}

// of is the contract at an address of a record, nil for none.
func of(found map[store.Address]*record.Contract, address []byte) *record.Contract {
	if len(address) != len(store.Address{}) {
		return nil
	}
	return found[store.Address(address)]
}

// transferOptions are those that a request asks for.
func (q *request) transferOptions() render.TransferOptions {
	return render.TransferOptions{Delivery: q.values.Bool("include_delivery")}
}

// deliveryParam is an addition to the contract.
var deliveryParam = params.Param{
	Name: "include_delivery", Kind: params.BoolKind, Default: "false",
	Description: "add how the receiving side ended: delivery, delivery_transaction_hash",
}
