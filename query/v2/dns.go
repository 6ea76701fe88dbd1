package v2

import (
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/openapi"
	toncell "tonscribe/ton/cell"
	"tonscribe/ton/code"
	tondns "tonscribe/ton/dns"
)

// domainContent is the content of an item that is a name (TEP-81).
type domainContent struct {
	Domain string            `json:"domain"`
	Data   map[string]record `json:"data"`
}

// The records of a name. A record is one of these.
type (
	record any

	stdAddress struct {
		_         typed  `type:"addr_std"`
		Workchain int32  `json:"workchain_id"`
		Address   string `json:"address"`
	}
	recordAddress struct {
		_       typed      `type:"dns_smc_address"`
		Address stdAddress `json:"smc_addr"`
	}
	recordADNL struct {
		_       typed  `type:"dns_adnl_address"`
		Address string `json:"adnl_addr"`
	}
	recordResolver struct {
		_        typed      `type:"dns_next_resolver"`
		Resolver stdAddress `json:"resolver"`
	}
	recordStorage struct {
		_   typed  `type:"dns_storage_address"`
		Bag string `json:"bag_id"`
	}
)

// topLevel follows the names of items.
const topLevel = ".ton"

// name is the content of an item that resolves itself; nil of others.
func (t *token) name() (any, error) {
	itself := cell.BeginCell().MustStoreUInt(0, 8).ToSlice()
	v, err := t.ask(t.state, "dnsresolve", 2, itself, new(big.Int))
	if v == nil || len(v.stack) != 2 {
		return nil, err
	}
	root, ok := v.stack[1].(*cell.Cell)
	if !ok {
		return nil, nil
	}
	records, err := tondns.Records(root)
	switch {
	case errors.Is(err, toncell.ErrTooManyEntries):
		return nil, errTokenData
	case err != nil || slices.ContainsFunc(records, func(e tondns.Entry) bool { return e.Record == nil }):
		return nil, nil //nolint:nilerr // such an item is no name
	}
	domain, err := t.ask(t.state, "get_domain", 1)
	if domain == nil {
		return nil, err
	}
	text, ok := domainText(domain.stack[0])
	if !ok {
		return nil, nil
	}
	content := domainContent{Domain: text + topLevel, Data: map[string]record{}}
	for _, e := range records {
		name, known := tondns.Categories[e.Category]
		if !known {
			name = strings.ToUpper(hex.EncodeToString(e.Category[:]))
		}
		if value := recordValue(e.Record); value != nil {
			content.Data[name] = value
		}
	}
	return content, nil
}

func domainText(value any) (string, bool) {
	s, ok := value.(*cell.Slice)
	if c, is := value.(*cell.Cell); is {
		var err error
		s, err = c.BeginParse()
		ok = err == nil
	}
	if !ok {
		return "", false
	}
	bits, data, err := s.Copy().RestBits()
	return string(data), err == nil && bits%8 == 0
}

// recordValue is nil for records of other kinds.
func recordValue(c *cell.Cell) any {
	kind, body := tondns.Parse(c)
	r := readerOf(body)
	var value any
	switch kind {
	case tondns.Address:
		value = recordAddress{Address: r.stdAddress()}
	case tondns.ADNL:
		value = recordADNL{Address: r.hexHash()}
	case tondns.NextResolver:
		value = recordResolver{Resolver: r.stdAddress()}
	case tondns.Storage:
		value = recordStorage{Bag: r.hexHash()}
	}
	if r.Err() != nil {
		return nil
	}
	return value
}

func (r *reader) stdAddress() stdAddress {
	a, _ := r.address()
	return stdAddress{Workchain: a.Workchain, Address: hex.EncodeToString(a.ID[:])}
}

func (r *reader) hexHash() string {
	h := r.Hash()
	return hex.EncodeToString(h[:])
}

// The results of dnsResolve.
type (
	resolvedNames struct {
		_       typed       `type:"dns.resolved"`
		Entries []nameEntry `json:"entries"`
	}
	nameEntry struct {
		_        typed     `type:"dns.entry"`
		Name     string    `json:"name"`
		Category [32]byte  `json:"category"`
		Entry    nameValue `json:"entry"`
	}
	// nameValue is one of the values below.
	nameValue interface{ isNameValue() }

	valueUnknown struct {
		_     typed      `type:"dns.entryDataUnknown"`
		Bytes *cell.Cell `json:"bytes"`
	}
	valueText struct {
		_    typed  `type:"dns.entryDataText"`
		Text string `json:"text"`
	}
	valueResolver struct {
		_        typed          `type:"dns.entryDataNextResolver"`
		Resolver accountAddress `json:"resolver"`
	}
	valueAddress struct {
		_       typed          `type:"dns.entryDataSmcAddress"`
		Address accountAddress `json:"smc_address"`
	}
	adnlAddress struct {
		_       typed  `type:"adnlAddress"`
		Address string `json:"adnl_address"`
	}
	valueADNL struct {
		_       typed       `type:"dns.entryDataAdnlAddress"`
		Address adnlAddress `json:"adnl_address"`
	}
	valueStorage struct {
		_   typed  `type:"dns.entryDataStorageAddress"`
		Bag string `json:"bag_id"`
	}
)

func (valueUnknown) isNameValue()  {}
func (valueText) isNameValue()     {}
func (valueResolver) isNameValue() {}
func (valueAddress) isNameValue()  {}
func (valueADNL) isNameValue()     {}
func (valueStorage) isNameValue()  {}

var dnsResolve = &Method{
	Name: "dnsResolve", Tag: tagUtils, Summary: "Resolve a name",
	Description: "What a resolver (TEP-81) says of a name; resolvers that it hands over to are asked too, up to ttl of them.",
	Params: []Param{
		addressParam("the resolver"),
		{Name: "name", Kind: TextKind, Description: "the name, its labels parted by dots; empty is the resolver's own"},
		{Name: "category", Kind: TextKind, Description: "not looked at"},
		{Name: "ttl", Kind: Int32Kind, Min: bound(0), Description: "how many resolvers are asked after the first"},
		seqnoParam,
	},
	Cache: time.Second, Parallel: 16, MostBytes: mostContractBytes,
	Errors: []Error{*errNameRecords, *tooLarge(mostContractBytes)},
	Result: openapi.TypeOf[resolvedNames](),
	serve: func(c *call) (any, error) {
		s, err := c.accountOf()
		if err != nil {
			return nil, err
		}
		name, err := tondns.Encode(c.text("name"))
		if err != nil {
			return nil, unprocessable("%s", err)
		}
		return c.resolve(s, name, int(min(c.number("ttl"), mostResolvers)))
	},
}

// mostResolvers is how many resolvers hand over to each other at most.
const mostResolvers = 8

func (c *call) resolve(s *accountState, name []byte, hops int) (any, error) {
	for {
		argument := cell.BeginCell().MustStoreSlice(name, uint(len(name))*8).ToSlice()
		result, err := c.run(s, int64(code.MethodID("dnsresolve")), []any{argument, new(big.Int)})
		if err != nil {
			return nil, err
		}
		if result.ExitCode != 0 || len(result.Stack) < 2 {
			return resolvedNames{}, nil
		}
		v := &values{stack: result.Stack}
		bits := v.number(0).Int64()
		root, ok := v.stack[1].(*cell.Cell)
		if v.bad || !ok || bits <= 0 || bits%8 != 0 || bits/8 > int64(len(name)) {
			return resolvedNames{}, nil
		}
		if name = name[bits/8:]; len(name) == 0 || hops == 0 {
			return entriesOf(root, name)
		}
		next, ok := nextResolver(root)
		if !ok {
			return resolvedNames{}, nil
		}
		hops--
		if s, err = c.accountAt(s.master, next); err != nil {
			return nil, err
		}
	}
}

func nextResolver(c *cell.Cell) (Address, bool) {
	kind, body := tondns.Parse(c)
	if kind != tondns.NextResolver {
		return Address{}, false
	}
	return readerOf(body).address()
}

var errNameRecords = failed("Failed to unpack the records: the name has more than %d", tondns.MaxRecords)

// entriesOf are the records of a name, or of the part of it that was resolved.
func entriesOf(root *cell.Cell, rest []byte) (any, error) {
	name := strings.TrimSuffix(string(rest), "\x00")
	var result resolvedNames
	if _, ok := nextResolver(root); ok {
		result.Entries = append(result.Entries, nameEntry{Name: name, Category: tondns.Category("dns_next_resolver"), Entry: nameValueOf(root)})
		return result, nil
	}
	records, err := tondns.Records(root)
	switch {
	case errors.Is(err, toncell.ErrTooManyEntries):
		return nil, errNameRecords
	case err != nil:
		return result, nil //nolint:nilerr // a name without records
	}
	for _, e := range records {
		if e.Record != nil {
			result.Entries = append(result.Entries, nameEntry{Name: name, Category: e.Category, Entry: nameValueOf(e.Record)})
		}
	}
	return result, nil
}

func nameValueOf(c *cell.Cell) nameValue {
	kind, body := tondns.Parse(c)
	r := readerOf(body)
	var value nameValue
	switch kind {
	case tondns.Text:
		text, err := tondns.ParseText(body)
		r.Fail(err)
		value = valueText{Text: strings.ToValidUTF8(string(text), "\uFFFD")}
	case tondns.Address:
		a, _ := r.address()
		value = valueAddress{Address: accountAddress{Address: a.bounceable()}}
	case tondns.ADNL:
		value = valueADNL{Address: adnlAddress{Address: r.hexHash()}}
	case tondns.NextResolver:
		a, _ := r.address()
		value = valueResolver{Resolver: accountAddress{Address: a.bounceable()}}
	case tondns.Storage:
		value = valueStorage{Bag: r.hexHash()}
	}
	if value == nil || r.Err() != nil {
		return valueUnknown{Bytes: c}
	}
	return value
}
