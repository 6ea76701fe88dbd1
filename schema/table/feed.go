package table

import (
	"errors"
	"fmt"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Fields of record.proto that hold the batches and the elements in them. Batches
// of one kind of elements have them in field 1.
const (
	fieldBlocks       protowire.Number = 5
	fieldTransactions protowire.Number = 6
	fieldAccounts     protowire.Number = 8
	fieldContracts    protowire.Number = 9
	fieldTraces       protowire.Number = 11

	fieldElement         protowire.Number = 1
	fieldCodes           protowire.Number = 2
	fieldLate            protowire.Number = 3
	fieldJettonTransfers protowire.Number = 2
	fieldJettonBurns     protowire.Number = 3
	fieldNFTTransfers    protowire.Number = 4
	fieldPast            protowire.Number = 5
)

// Options say what rows leave out.
type Options struct {
	// KeepsData reports whether table accounts keeps data of a depth; nil: of any.
	KeepsData func(depth uint32) bool
	// Take, when not nil, is given the rows one by one, in words, in place of buffers.
	// Source is the record that a row was made of, in the form in which that stands in
	// its own table; empty for rows that were not made of one that has.
	Take func(t *Table, words []uint64, source string)
}

// Feed makes rows of a topic's records.
type Feed struct {
	batch   protowire.Number
	parts   []part
	options Options
	buffers []Buffer
}

// part makes rows of the elements in one field of a record's batch, and returns
// how many elements there are that a seal counts.
type part func(r *record.Record, batch []byte) (rows int, err error)

// NewFeed returns the feed of a topic's tables.
func NewFeed(topic string, options Options) (*Feed, error) {
	f := &Feed{options: options}
	switch topic {
	case schema.Headers.Name:
		f.batch = fieldBlocks
		f.parts = []part{elements(fieldElement, true, func(r *record.Record) []*record.Block { return r.GetBlocks().GetBlocks() },
			made(NewBlock, into(f, Blocks), into(f, BlocksIndex)))}
	case schema.Transactions.Name:
		f.batch = fieldTransactions
		f.parts = []part{elements(fieldElement, true, func(r *record.Record) []*record.Transaction { return r.GetTransactions().GetTransactions() },
			made(NewTransaction, into(f, Transactions), into(f, TransactionsIndex), each((*Transaction).Ends, into(f, MessagesIndex), into(f, MessagesByAccount))))}
	case schema.Accounts.Name:
		f.batch = fieldAccounts
		take := []func(*Account){into(f, Accounts), into(f, AccountsByBalance)}
		f.parts = []part{
			elements(fieldElement, true, func(r *record.Record) []*record.Account { return r.GetAccounts().GetAccounts() }, made(options.account(false), take...)),
			elements(fieldLate, false, func(r *record.Record) []*record.Account { return r.GetAccounts().GetLate() }, made(options.account(true), take...)),
			elements(fieldCodes, false, func(r *record.Record) []*record.Code { return r.GetAccounts().GetCodes() }, made(newCode, into(f, Codes))),
		}
	case schema.Contracts.Name:
		f.batch = fieldContracts
		links, documents := each((*Contract).Links, into(f, ContractLinks)), each((*Contract).Documents, into(f, MetadataLinks))
		lists := each((*Transfer).Lists, into(f, TransfersByParty))
		f.parts = []part{
			elements(fieldPast, true, func(r *record.Record) []*record.Contract { return r.GetContracts().GetPast() }, made(NewContract, into(f, PastContracts))),
			elements(fieldElement, true, func(r *record.Record) []*record.Contract { return r.GetContracts().GetContracts() },
				made(NewContract, links, documents, into(f, JettonMasters.Of), into(f, JettonWallets.Of), into(f, NFTCollections.Of), into(f, NFTItems.Of), into(f, Contracts))),
			elements(fieldJettonTransfers, true, func(r *record.Record) []*record.JettonTransfer { return r.GetContracts().GetJettonTransfers() },
				made(NewJettonTransfer, into(f, JettonTransfers), lists)),
			elements(fieldJettonBurns, true, func(r *record.Record) []*record.JettonBurn { return r.GetContracts().GetJettonBurns() },
				made(NewJettonBurn, into(f, JettonBurns), lists)),
			elements(fieldNFTTransfers, true, func(r *record.Record) []*record.NFTTransfer { return r.GetContracts().GetNftTransfers() },
				made(NewNFTTransfer, into(f, NFTTransfers), lists)),
		}
	case schema.Traces.Name:
		f.batch = fieldTraces
		f.parts = []part{elements(fieldElement, true, func(r *record.Record) []*record.TraceStep { return r.GetTraces().GetTraces() },
			made(NewTraceStep, each((*TraceStep).Each, into(f, TransactionTraces)), each((*TraceStep).Rows, into(f, Traces)), each((*TraceStep).Lists, into(f, TracesByList)),
				each((*TraceStep).EachAction, into(f, Actions), each((*ActionRow).Lists, into(f, ActionsByList)))))}
	default:
		return nil, fmt.Errorf("topic %s has no tables", topic)
	}
	return f, nil
}

// Add adds the rows of a record, which was read from raw, and returns how many of
// them its bundle's seal counts. Both stay in use until Reset of the buffers.
func (f *Feed) Add(r *record.Record, raw []byte) (rows int, err error) {
	batches, err := fields(raw, f.batch)
	if err != nil || len(batches) != 1 {
		return 0, errors.Join(fmt.Errorf("record of %d bytes: %d batches instead of one", len(raw), len(batches)), err)
	}
	for _, p := range f.parts {
		n, err := p(r, batches[0])
		if err != nil {
			return 0, err
		}
		rows += n
	}
	return rows, nil
}

// Buffers are the rows, by table.
func (f *Feed) Buffers() []Buffer { return f.buffers }

// into adds rows to a table, as one of the feed's.
func into[R any](f *Feed, t *Of[R]) func(R) {
	if take := f.options.Take; take != nil {
		hand := func(row R) {
			source := ""
			if r, ok := any(row).(interface{ source() string }); ok {
				source = r.source()
			}
			take(&t.Table, t.Words(row), source)
		}
		return func(row R) { t.Each(row, hand) }
	}
	b := NewRows(t)
	f.buffers = append(f.buffers, b)
	return b.Add
}

func (b *Block) source() string       { return b.Raw }
func (r *Transaction) source() string { return r.Raw }
func (e *MessageEnd) source() string  { return e.Transaction.Raw }
func (a *Account) source() string     { return a.Raw }
func (c *Code) source() string        { return c.Raw }
func (c *Contract) source() string    { return c.Raw }
func (t *Transfer) source() string    { return t.Raw }

// each hands what is made of a row to all of take.
func each[R, S any](of func(row R, add func(S)), take ...func(S)) func(R) {
	add := func(s S) {
		for _, t := range take {
			t(s)
		}
	}
	return func(row R) { of(row, add) }
}

// made hands the row that is made of an element and its bytes to all of take.
func made[E, R any](row func(e E, raw []byte) (R, error), take ...func(R)) func(e E, raw []byte) error {
	return func(e E, raw []byte) error {
		r, err := row(e, raw)
		if err != nil {
			return err
		}
		for _, t := range take {
			t(r)
		}
		return nil
	}
}

// elements hands out the elements in a field with their bytes, cut out of the
// record's, so that the tables keep exactly what decode wrote.
func elements[E any](field protowire.Number, counted bool, list func(*record.Record) []E, take func(e E, raw []byte) error) part {
	return func(r *record.Record, batch []byte) (int, error) {
		all := list(r)
		raw, err := fields(batch, field)
		if err != nil {
			return 0, err
		}
		if len(raw) != len(all) {
			return 0, fmt.Errorf("%d elements in field %d instead of %d", len(raw), field, len(all))
		}
		for i, e := range all {
			if err := take(e, raw[i]); err != nil {
				return 0, err
			}
		}
		if !counted {
			return 0, nil
		}
		return len(all), nil
	}
}

// fields are the values of every field with the number, which is of type bytes.
func fields(message []byte, number protowire.Number) (values [][]byte, err error) {
	for len(message) > 0 {
		n, kind, tag := protowire.ConsumeTag(message)
		if tag < 0 {
			return nil, protowire.ParseError(tag)
		}
		size := protowire.ConsumeFieldValue(n, kind, message[tag:])
		if size < 0 {
			return nil, protowire.ParseError(size)
		}
		if n == number && kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message[tag:])
			values = append(values, value)
		}
		message = message[tag+size:]
	}
	return values, nil
}

// text is the bytes as a string without a copy; they must not change. The driver
// takes columns of strings much faster than columns of byte slices.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
