package rows

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"tonscribe/query/api"
	"tonscribe/query/cache"
	"tonscribe/query/openapi"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
	"tonscribe/ton/code"
)

// AppendBoth appends the members address_book and metadata of an answer, behind commas.
// What is known of some of the addresses need not be read again.
func (r *Reader) AppendBoth(ctx context.Context, dst []byte, book api.Book, known map[address.Address]*record.Contract) ([]byte, error) {
	var entries map[address.Address]cache.Entry // of all, once for both
	var err error
	if !r.NoAddressBook && !r.NoMetadata {
		list := accountsIn(book)
		r.readAhead(ctx, list, len(known) == 0)
		if entries, err = r.Store.Directory(ctx, list); err != nil {
			return dst, err
		}
	}
	var rows []byte
	group, inGroup := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		rows, err = r.MetadataOf(inGroup, book, known, entries)
		return err
	})
	body, err := r.addressBook(ctx, dst, book, entries)
	if waited := group.Wait(); err == nil {
		err = waited
	}
	return append(append(body, `,"metadata":`...), rows...), err
}

// BookRow is a row of address_book.
type BookRow struct {
	address     address.Address
	entry       cache.Entry
	domain      string
	testNetwork bool
	Nobody      bool // addr_none
	Unreadable  bool // no address at all
}

// AddressBook are the rows of address_book.
var AddressBook = api.New("AddressBookRow",
	api.Written("user_friendly", describedText, func(w *api.Writer, r *BookRow) bool {
		switch workchain := r.address.Workchain(); {
		case r.Unreadable, workchain != int32(int8(workchain)):
			return false
		case r.Nobody:
			w.JSON = append(w.JSON, `"addr_none"`...)
			return true
		}
		form := address.Form{NonBounceable: r.entry.Code == nil || code.IsWallet(r.entry.Code.Hash), TestOnly: r.testNetwork}
		w.JSON = append(address.AppendFriendly(append(w.JSON, '"'), r.address[:], form, base64.URLEncoding), '"')
		return true
	}).Null().Doc("user-friendly form; null of a workchain that it has no room for"),
	api.Text("domain", func(r *BookRow) string {
		if !r.entry.Known {
			return ""
		}
		return r.domain
	}).Null().Doc("name that the account owns and that names it"),
	api.Texts("interfaces", func(r *BookRow) []string {
		switch {
		case !r.entry.Known:
			return []string{}
		case r.entry.Code == nil:
			return nil
		}
		return r.entry.Code.Interfaces
	}).Null().Doc("what the contract is by its code"),
)

func describedText(*openapi.Components) openapi.Object { return openapi.Schema("type", "string") }

// accountsIn are the addresses of a book, in the order of their texts.
func accountsIn(book api.Book) []address.Address {
	list := make([]address.Address, 0, len(book))
	for known := range book {
		if known != api.Nobody {
			list = append(list, known)
		}
	}
	slices.SortFunc(list, CompareRaw)
	return list
}

// addressBook appends the member address_book. entries are those of its addresses, nil
// where they were not read yet.
func (r *Reader) addressBook(ctx context.Context, dst []byte, book api.Book, entries map[address.Address]cache.Entry) ([]byte, error) {
	w := &api.Writer{JSON: append(dst, `,"address_book":{`...)}
	if r.NoAddressBook {
		return append(w.JSON, '}'), nil
	}
	list := accountsIn(book)
	rowOf, err := r.BookRowsOf(ctx, list, entries)
	if err != nil {
		return dst, err
	}
	for i, known := range list {
		if i > 0 {
			w.JSON = append(w.JSON, ',')
		}
		w.JSON = append(address.AppendRaw(append(w.JSON, '"'), known[:]), `":`...)
		AddressBook.Write(w, rowOf(known))
	}
	if _, nobody := book[api.Nobody]; nobody {
		if len(list) > 0 {
			w.JSON = append(w.JSON, ',')
		}
		w.JSON = append(w.JSON, `"addr_none":`...)
		AddressBook.Write(w, &BookRow{Nobody: true})
	}
	return append(w.JSON, '}'), nil
}

// BookRowsOf reads what rows of some addresses say, of which entries may be known. A row
// counts until the next one.
func (r *Reader) BookRowsOf(ctx context.Context, list []address.Address, entries map[address.Address]cache.Entry) (func(address.Address) *BookRow, error) {
	if entries == nil {
		r.readAhead(ctx, list, false)
		var err error
		if entries, err = r.Store.Directory(ctx, list); err != nil {
			return nil, err
		}
	}
	domains, err := r.Store.Domains(ctx, list)
	row := &BookRow{testNetwork: r.TestNetwork}
	return func(a address.Address) *BookRow {
		row.address, row.entry, row.domain = a, entries[a], domains[a]
		return row
	}, err
}

// CompareRaw is the order of raw addresses as texts; a workchain other than -1
// and 0 is rare enough to be written out.
func CompareRaw(a, b address.Address) int {
	if binary.BigEndian.Uint32(a[:]) == binary.BigEndian.Uint32(b[:]) {
		return slices.Compare(a[4:], b[4:])
	}
	return strings.Compare(string(address.AppendRaw(nil, a[:])), string(address.AppendRaw(nil, b[:])))
}

// AppendAddressBook appends the member address_book of an answer, behind a comma.
func (r *Reader) AppendAddressBook(ctx context.Context, dst []byte, book api.Book) ([]byte, error) {
	return r.addressBook(ctx, dst, book, nil)
}

// AppendMetadata appends the member metadata of an answer, behind a comma.
func (r *Reader) AppendMetadata(ctx context.Context, dst []byte, book api.Book) ([]byte, error) {
	rows, err := r.MetadataOf(ctx, book, nil, nil)
	if err != nil {
		return dst, err
	}
	return append(append(dst, `,"metadata":`...), rows...), nil
}
