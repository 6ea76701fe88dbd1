package v3

import (
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strings"

	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/query/store"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
	"tonscribe/ton/code"
)

var addressBook = &Endpoint{
	Path: "/addressBook", Tag: "Accounts", Summary: "Address book",
	Description: "The user-friendly form, the domain and the interfaces of addresses. The keys are the addresses as they were sent.",
	Params: []params.Param{
		{Name: "address", Kind: params.TextKind, Multi: true, Required: true, Range: "1..1024", Description: "addresses in any form"},
	},
	Result: resultOf[addressBookAnswer](),
	Errors: []params.Error{{Status: 422, Text: "at least 1 address required"}},
	serve:  serveAddressBook,
}

func serveAddressBook(q *request) error {
	sent := q.values.Texts("address")
	if len(sent) == 0 {
		return params.Unprocessable("at least 1 address required")
	}
	slices.Sort(sent)
	sent = slices.Compact(sent)
	var known []store.Address
	for _, text := range sent {
		if a, _, err := address.Parse(text); err == nil {
			known = append(known, a)
		}
	}
	entries, err := q.store.Directory(q, q.view, known)
	if err != nil {
		return err
	}
	domains, err := q.store.Domains(q, q.view, known)
	if err != nil {
		return err
	}
	rows, parsed := []byte{'{'}, 0
	for i, text := range sent {
		if i > 0 {
			rows = append(rows, ',')
		}
		rows = append(render.Text(rows, text), ':')
		a, _, err := address.Parse(text)
		switch {
		case err == nil:
			parsed++
			rows = q.addressBookRow(rows, a, entries[a], domains[a])
		case text == "addr_none":
			parsed++
			rows = append(rows, nobodysRow...)
		default:
			rows = append(rows, `{"user_friendly":null,"domain":null,"interfaces":[]}`...)
		}
	}
	if parsed == 0 {
		return params.Unprocessable(`failed to decode: schema: error converting value for index 0 of "address"`)
	}
	q.body = append(append(q.body, rows...), '}')
	return nil
}

// addressBookRow appends an AddressBookRow (contract 3.1). Contracts that are no
// wallets are bounceable (contract 4.3).
func (q *request) addressBookRow(dst []byte, a store.Address, e store.Entry, domain string) []byte {
	dst = append(dst, `{"user_friendly":"`...)
	form := address.Form{NonBounceable: e.Code == nil || code.IsWallet(e.Code.Hash), TestOnly: q.testNetwork}
	dst = address.AppendFriendly(dst, a[:], form, base64.URLEncoding)
	dst = append(dst, `","domain":`...)
	if domain == "" || !e.Known {
		dst = append(dst, "null"...)
	} else {
		dst = render.Text(dst, domain)
	}
	dst = append(dst, `,"interfaces":`...)
	switch {
	case !e.Known:
		dst = append(dst, "[]"...)
	case e.Code == nil:
		dst = append(dst, "null"...)
	default:
		dst = render.Names(dst, e.Code.Interfaces)
	}
	return append(dst, '}')
}

// addresses gathers what an answer's address_book has rows for.
type addresses map[store.Address]struct{}

func (s addresses) add(address []byte) {
	if len(address) == schema.AddressSize {
		s[store.Address(address)] = struct{}{}
	}
}

func (s addresses) addMessage(m *record.Message) {
	s.add(m.Source)
	s.add(m.Destination)
}

func (s addresses) addTransaction(tx *record.Transaction) {
	s.add(tx.Account)
	if tx.InMsg != nil {
		s.addMessage(tx.InMsg)
	}
	for _, m := range tx.OutMsgs {
		s.addMessage(m)
	}
}

// nobodysAddress stands for addr_none among addresses: there is no such
// workchain.
var nobodysAddress = store.Address{0x80}

// nobodysRow is what an address book says of addr_none.
const nobodysRow = `{"user_friendly":"addr_none","domain":null,"interfaces":[]}`

// addressBook appends the member address_book to the body's object.
func (q *request) addressBook(s addresses) error {
	q.body = append(q.body, `,"address_book":{`...)
	if q.options.noAddressBook {
		q.body = append(q.body, '}')
		return nil
	}
	list := make([]store.Address, 0, len(s))
	for a := range s {
		if a != nobodysAddress {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, compareRaw)
	entries, err := q.store.Directory(q, q.view, list)
	if err != nil {
		return err
	}
	domains, err := q.store.Domains(q, q.view, list)
	if err != nil {
		return err
	}
	for i, a := range list {
		if i > 0 {
			q.body = append(q.body, ',')
		}
		q.body = append(q.body, '"')
		q.body = address.AppendRaw(q.body, a[:])
		q.body = append(q.body, `":`...)
		q.body = q.addressBookRow(q.body, a, entries[a], domains[a])
	}
	if _, nobody := s[nobodysAddress]; nobody {
		if len(list) > 0 {
			q.body = append(q.body, ',')
		}
		q.body = append(q.body, `"addr_none":`+nobodysRow...)
	}
	q.body = append(q.body, '}')
	return nil
}

// compareRaw is the order of raw addresses as texts; a workchain other than -1
// and 0 is rare enough to be written out.
func compareRaw(a, b store.Address) int {
	if binary.BigEndian.Uint32(a[:]) == binary.BigEndian.Uint32(b[:]) {
		return slices.Compare(a[4:], b[4:])
	}
	return strings.Compare(string(address.AppendRaw(nil, a[:])), string(address.AppendRaw(nil, b[:])))
}
