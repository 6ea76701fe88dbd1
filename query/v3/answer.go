package v3

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"tonscribe/query/api"
	"tonscribe/query/cache"
	"tonscribe/query/head"
	"tonscribe/query/list/paging"
	"tonscribe/query/openapi"
	"tonscribe/query/params"
	"tonscribe/query/reader"
	"tonscribe/query/render"
	"tonscribe/query/store"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
	"tonscribe/ton/code"
)

// answerList is an answer that is a list of rows, what is known of their addresses, and
// the cursor of the next page.
type answerList[S any] struct {
	name  string
	shape *api.Shape[S]
	has   has
	openapi.Described
}

// has says what an answer has behind its list.
type has uint8

const (
	hasBook has = 1 << iota
	hasMetadata
	hasNext
)

// described is the row of shapes that are not written as a whole.
type described struct{}

// listOf declares an answer by the name of its component and of its list; between
// are members behind the list.
func listOf[S any](component, name string, shape *api.Shape[S], h has, between ...api.Member[described]) *answerList[S] {
	members := append([]api.Member[described]{api.Written[described](name, api.ListOf(shape), nil)}, between...)
	if h&hasBook != 0 {
		members = append(members, bookMember)
	}
	if h&hasMetadata != 0 {
		members = append(members, api.Written[described]("metadata", mapOf(render.Metadata), nil).Doc("what is known of the tokens among the addresses of the answer"))
	}
	if h&hasNext != 0 {
		members = append(members, api.Text[described]("next_cursor", nil).Optional().Doc("cursor of the next page; missing on the last one"))
	}
	return &answerList[S]{name, shape, h, api.New(component, members...)}
}

var bookMember = api.Written[described]("address_book", mapOf(bookRows), nil).Doc("a row for every address of the answer")

// mapOf is the schema of an object whose values are rows.
func mapOf(rows openapi.Described) func(*openapi.Components) openapi.Object {
	return func(c *openapi.Components) openapi.Object {
		return openapi.Schema("type", "object", "additionalProperties", rows.Schema(c))
	}
}

// unnamed is an answer by its schema: an object or a list that has no name.
type unnamed func(*openapi.Components) openapi.Object

// Schema implements openapi.Described.
func (u unnamed) Schema(c *openapi.Components) openapi.Object { return u(c) }

// page is how a page of a list is read: elements E, their keys K, the rows S made
// of them.
type page[E, S, K any] struct {
	sort  params.Sort // where none is asked for
	parts api.Part
	read  reading[E, K]
	// none is called for an empty page, before it becomes an answer. May be nil.
	none func() error
	// before is called with the page before it is written. May be nil.
	before func([]E) error
	row    func(E) S
	keyOf  func(E) K
	// between appends members behind the list. May be nil.
	between func(dst []byte) []byte
}

// reading reads a page, and reports whether there are more after it.
type reading[E, K any] = func(page paging.Page, after *K) ([]E, bool, error)

// by reads a list by a filter.
func by[F, E, K any](q *request, f F, read func(context.Context, F, paging.Page, *K) ([]E, bool, error)) reading[E, K] {
	return func(page paging.Page, after *K) ([]E, bool, error) { return read(q, f, page, after) }
}

// inView reads a list by a filter, as of the view of the request.
func inView[F, E, K any](q *request, f F, read func(context.Context, *head.View, F, paging.Page, *K) ([]E, bool, error)) reading[E, K] {
	return func(page paging.Page, after *K) ([]E, bool, error) { return read(q, q.view, f, page, after) }
}

// servePage answers a page of a list.
func servePage[E, S, K any](q *request, l *answerList[S], p *page[E, S, K]) error {
	asked, part, err := q.page(p.sort)
	if err != nil {
		return err
	}
	after, err := afterOf[K](q, asked)
	if err != nil {
		return err
	}
	found, more, err := p.read(part, after)
	if err != nil {
		return err
	}
	if len(found) == 0 && p.none != nil {
		if err := p.none(); err != nil {
			return err
		}
	}
	if p.before != nil {
		if err := p.before(found); err != nil {
			return err
		}
	}
	w := q.writer(l.has, p.parts)
	writeRows(w, l.name, l.shape, found, p.row)
	if p.between != nil {
		w.JSON = p.between(w.JSON)
	}
	contracts, _ := any(found).([]*record.Contract)
	if err := q.finish(w, l.has, byAccount(contracts)); err != nil || !more {
		return err
	}
	cursor := q.cursorOf(asked.Sort, p.keyOf(found[len(found)-1]))
	q.body = append(append(append(q.body[:len(q.body)-1], `,"next_cursor":"`...), cursor...), `"}`...)
	return nil
}

// serveRows answers with all rows of a list. What is known of some of its addresses
// need not be read again.
func serveRows[E, S any](q *request, l *answerList[S], parts api.Part, rows []E, known map[address.Address]*record.Contract, row func(E) S) error {
	w := q.writer(l.has, parts)
	writeRows(w, l.name, l.shape, rows, row)
	return q.finish(w, l.has, known)
}

// byAccount are contracts by their address.
func byAccount(list []*record.Contract) map[address.Address]*record.Contract {
	known := make(map[address.Address]*record.Contract, len(list))
	for _, c := range list {
		known[address.Address(c.Account)] = c
	}
	return known
}

// writeRows appends a list as a member of the answer.
func writeRows[E, S any](w *api.Writer, name string, shape *api.Shape[S], list []E, row func(E) S) {
	separator := byte(',')
	if len(w.JSON) == 0 {
		separator = '{'
	}
	w.JSON = append(append(append(w.JSON, separator, '"'), name...), `":`...)
	i := 0
	api.WriteList(w, shape, list, func(e E) S {
		reader.Yield(i)
		i++
		return row(e)
	})
}

// answers makes answers of rows. It knows nothing of requests and their protocol.
type answers struct {
	store                                  *store.Store
	view                                   *head.View
	testNetwork, noAddressBook, noMetadata bool
}

// writer begins the body of an answer.
func (q *request) writer(h has, parts api.Part) *api.Writer {
	w := &api.Writer{JSON: q.body, Parts: parts}
	if h&hasBook != 0 && !q.noAddressBook || h&hasMetadata != 0 && !q.noMetadata {
		w.Book = api.Book{}
	}
	return w
}

// finish ends an answer with what is known of its addresses.
func (q *request) finish(w *api.Writer, h has, known map[address.Address]*record.Contract) (err error) {
	if w.Done(); w.Cut {
		q.hints = append(q.hints, "some bodies are not decoded: all of the answer are too much, ask for fewer rows")
	}
	q.body, err = q.aboutAddresses(q, w, h, known)
	q.body = append(q.body, '}')
	return err
}

// aboutAddresses appends the members address_book and metadata, as far as the
// answer has them; what is known of some of the addresses need not be read again.
func (q *answers) aboutAddresses(ctx context.Context, w *api.Writer, h has, known map[address.Address]*record.Contract) ([]byte, error) {
	if h&hasMetadata == 0 {
		if h&hasBook == 0 {
			return w.JSON, nil
		}
		return q.addressBook(ctx, w.JSON, w.Book, nil)
	}
	var entries map[address.Address]cache.Entry // of all, once for both
	var err error
	if !q.noAddressBook && !q.noMetadata {
		if entries, err = q.store.Directory(ctx, accountsIn(w.Book)); err != nil {
			return w.JSON, err
		}
	}
	var rows []byte
	group, inGroup := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		rows, err = q.metadataOf(inGroup, w.Book, known, entries)
		return err
	})
	body, err := q.addressBook(ctx, w.JSON, w.Book, entries)
	if waited := group.Wait(); err == nil {
		err = waited
	}
	return append(append(body, `,"metadata":`...), rows...), err
}

// bookRow is a row of address_book.
type bookRow struct {
	address     address.Address
	entry       cache.Entry
	domain      string
	testNetwork bool
	nobody      bool // addr_none
	unreadable  bool // no address at all
}

// bookRows are the rows of address_book.
var bookRows = api.New("AddressBookRow",
	api.Written("user_friendly", describedText, func(w *api.Writer, r *bookRow) bool {
		switch {
		case r.unreadable:
			return false
		case r.nobody:
			w.JSON = append(w.JSON, `"addr_none"`...)
			return true
		}
		form := address.Form{NonBounceable: r.entry.Code == nil || code.IsWallet(r.entry.Code.Hash), TestOnly: r.testNetwork}
		w.JSON = append(address.AppendFriendly(append(w.JSON, '"'), r.address[:], form, base64.URLEncoding), '"')
		return true
	}).Null().Doc("user-friendly form"),
	api.Text("domain", func(r *bookRow) string {
		if !r.entry.Known {
			return ""
		}
		return r.domain
	}).Null().Doc("name that the account owns and that names it"),
	api.Texts("interfaces", func(r *bookRow) []string {
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
	slices.SortFunc(list, compareRaw)
	return list
}

// addressBook appends the member address_book. entries are those of its addresses, nil
// where they were not read yet.
func (q *answers) addressBook(ctx context.Context, dst []byte, book api.Book, entries map[address.Address]cache.Entry) ([]byte, error) {
	w := &api.Writer{JSON: append(dst, `,"address_book":{`...)}
	if q.noAddressBook {
		return append(w.JSON, '}'), nil
	}
	list := accountsIn(book)
	rowOf, err := q.bookRowsOf(ctx, list, entries)
	if err != nil {
		return dst, err
	}
	for i, known := range list {
		if i > 0 {
			w.JSON = append(w.JSON, ',')
		}
		w.JSON = append(address.AppendRaw(append(w.JSON, '"'), known[:]), `":`...)
		bookRows.Write(w, rowOf(known))
	}
	if _, nobody := book[api.Nobody]; nobody {
		if len(list) > 0 {
			w.JSON = append(w.JSON, ',')
		}
		w.JSON = append(w.JSON, `"addr_none":`...)
		bookRows.Write(w, &bookRow{nobody: true})
	}
	return append(w.JSON, '}'), nil
}

// bookRowsOf reads what rows of some addresses say, of which entries may be known. A row
// counts until the next one.
func (q *answers) bookRowsOf(ctx context.Context, list []address.Address, entries map[address.Address]cache.Entry) (func(address.Address) *bookRow, error) {
	if entries == nil {
		var err error
		if entries, err = q.store.Directory(ctx, list); err != nil {
			return nil, err
		}
	}
	domains, err := q.store.Domains(ctx, list)
	row := &bookRow{testNetwork: q.testNetwork}
	return func(a address.Address) *bookRow {
		row.address, row.entry, row.domain = a, entries[a], domains[a]
		return row
	}, err
}

// compareRaw is the order of raw addresses as texts; a workchain other than -1
// and 0 is rare enough to be written out.
func compareRaw(a, b address.Address) int {
	if binary.BigEndian.Uint32(a[:]) == binary.BigEndian.Uint32(b[:]) {
		return slices.Compare(a[4:], b[4:])
	}
	return strings.Compare(string(address.AppendRaw(nil, a[:])), string(address.AppendRaw(nil, b[:])))
}

// contractsOf reads contracts that a page names besides its own, all at once.
func (q *answers) contractsOf(ctx context.Context, list []*record.Contract, of func(*record.Contract) []byte) (map[address.Address]*record.Contract, error) {
	wanted := api.Book{}
	for _, c := range list {
		wanted.Add(of(c))
	}
	return q.contracts(ctx, wanted)
}

func (q *answers) contracts(ctx context.Context, wanted api.Book) (map[address.Address]*record.Contract, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	return q.store.Contracts(ctx, slices.Collect(maps.Keys(wanted)))
}

// of is the contract at an address of a record, nil for none.
func of(found map[address.Address]*record.Contract, a []byte) *record.Contract {
	if len(a) != len(address.Address{}) {
		return nil
	}
	return found[address.Address(a)]
}
