package v2

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/big"
	"strings"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/tvm"
	toncell "tonscribe/ton/cell"
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

// The first 16 bits of a record (TEP-81).
const (
	recordTagAddress  = 0x9fd3
	recordTagADNL     = 0xad01
	recordTagResolver = 0xba93
	recordTagStorage  = 0x7473
	recordTagText     = 0x1eda
)

// recordNames are the categories by the hashes that stand in dictionaries.
var recordNames = func() map[[32]byte]string {
	names := map[[32]byte]string{}
	for _, name := range []string{"wallet", "site", "storage", "dns_next_resolver"} {
		names[sha256.Sum256([]byte(name))] = name
	}
	return names
}()

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
	records, err := readRecords(root)
	switch {
	case errors.Is(err, toncell.ErrTooManyEntries):
		return nil, errTokenData
	case err != nil:
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
	for category, record := range records {
		name, known := recordNames[category]
		if !known {
			name = strings.ToUpper(hex.EncodeToString(category[:]))
		}
		if value := recordValue(record); value != nil {
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

// mostRecords is how many records of a name are read. Names have a handful.
const mostRecords = 256

// readRecords reads a dictionary from categories to records.
func readRecords(root *cell.Cell) (map[[32]byte]*cell.Cell, error) {
	all, err := toncell.Dictionary{Root: root, Bits: 256}.Entries(mostRecords)
	if err != nil {
		return nil, err
	}
	records := map[[32]byte]*cell.Cell{}
	for _, e := range all {
		if records[[32]byte(e.Key)], err = e.Value.LoadRefCell(); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// recordValue is nil for records of other kinds.
func recordValue(c *cell.Cell) any {
	r := parse(c)
	var value any
	switch r.uint(16) {
	case recordTagAddress:
		value = recordAddress{Address: r.stdAddress()}
	case recordTagADNL:
		value = recordADNL{Address: r.hexHash()}
	case recordTagResolver:
		value = recordResolver{Resolver: r.stdAddress()}
	case recordTagStorage:
		value = recordStorage{Bag: r.hexHash()}
	}
	if r.err != nil {
		return nil
	}
	return value
}

func (r *reader) stdAddress() stdAddress {
	a, _ := r.address()
	return stdAddress{Workchain: a.Workchain, Address: hex.EncodeToString(a.ID[:])}
}

func (r *reader) hexHash() string {
	h := r.hash()
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
	Result: resultOf[resolvedNames](),
	serve: func(c *call) (any, error) {
		s, err := c.accountOf()
		if err != nil {
			return nil, err
		}
		labels, err := nameLabels(c.text("name"))
		if err != nil {
			return nil, err
		}
		return c.resolve(s, labels, int(min(c.number("ttl"), mostResolvers)))
	},
}

// mostResolvers is how many resolvers hand over to each other at most.
const mostResolvers = 8

// mostNameBytes is the longest name (TEP-81).
const mostNameBytes = 126

// nameLabels is a name as resolvers read it: labels from the last to the first,
// each with a zero byte behind it; a single one for the resolver itself.
func nameLabels(name string) ([]byte, error) {
	if len(name) > mostNameBytes {
		return nil, unprocessable("name is longer than %d bytes", mostNameBytes)
	}
	if name == "" || name == "." {
		return []byte{0}, nil
	}
	labels := strings.Split(strings.TrimSuffix(name, "."), ".")
	var out []byte
	for i := len(labels) - 1; i >= 0; i-- {
		if labels[i] == "" || strings.IndexByte(labels[i], 0) >= 0 {
			return nil, unprocessable("failed to parse name")
		}
		out = append(append(out, labels[i]...), 0)
	}
	return out, nil
}

func (c *call) resolve(s *accountState, name []byte, hops int) (any, error) {
	for {
		argument := cell.BeginCell().MustStoreSlice(name, uint(len(name))*8).ToSlice()
		result, err := c.run(s, tvm.MethodID("dnsresolve"), []any{argument, new(big.Int)})
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
	r := parse(c)
	if r.uint(16) != recordTagResolver {
		return Address{}, false
	}
	return r.address()
}

var errNameRecords = failed("Failed to unpack the records: the name has more than %d", mostRecords)

// entriesOf are the records of a name, or of the part of it that was resolved.
func entriesOf(root *cell.Cell, rest []byte) (any, error) {
	name := strings.TrimSuffix(string(rest), "\x00")
	var result resolvedNames
	if _, ok := nextResolver(root); ok {
		category := sha256.Sum256([]byte("dns_next_resolver"))
		result.Entries = append(result.Entries, nameEntry{Name: name, Category: category, Entry: nameValueOf(root)})
		return result, nil
	}
	all, err := toncell.Dictionary{Root: root, Bits: 256}.Entries(mostRecords)
	switch {
	case errors.Is(err, toncell.ErrTooManyEntries):
		return nil, errNameRecords
	case err != nil:
		return result, nil //nolint:nilerr // a name without records
	}
	for _, e := range all {
		if record, err := e.Value.LoadRefCell(); err == nil {
			result.Entries = append(result.Entries, nameEntry{Name: name, Category: [32]byte(e.Key), Entry: nameValueOf(record)})
		}
	}
	return result, nil
}

func nameValueOf(c *cell.Cell) nameValue {
	r := parse(c)
	var value nameValue
	switch r.uint(16) {
	case recordTagText:
		value = valueText{Text: r.recordText()}
	case recordTagAddress:
		a, _ := r.address()
		value = valueAddress{Address: accountAddress{Address: a.bounceable()}}
	case recordTagADNL:
		value = valueADNL{Address: adnlAddress{Address: r.hexHash()}}
	case recordTagResolver:
		a, _ := r.address()
		value = valueResolver{Resolver: accountAddress{Address: a.bounceable()}}
	case recordTagStorage:
		value = valueStorage{Bag: r.hexHash()}
	}
	if value == nil || r.err != nil {
		return valueUnknown{Bytes: c}
	}
	return value
}

// recordText reads Text (TL-B): chunks, each with its length, the next one in a
// reference.
func (r *reader) recordText() string {
	var text []byte
	chunks := r.uint(8)
	for i := range chunks {
		length := uint(r.uint(8))
		data, err := r.LoadSlice(length * 8)
		r.note(err)
		text = append(text, data...)
		if i+1 < chunks && r.err == nil {
			next, err := r.LoadRef()
			if r.note(err); err != nil {
				break
			}
			r.Slice = next
		}
	}
	return strings.ToValidUTF8(string(text), "\uFFFD")
}
