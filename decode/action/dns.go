package action

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"math/big"

	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// Opcodes of DNS items (TEP-81).
const (
	opDNSRecord   = 0x4eb1f0f9
	opDNSRelease  = 0x4ed14b65
	opDNSDecision = 0x44beae41 // process_governance_decision
)

// The first 16 bits of DNS records.
const (
	dnsWallet       = 0x9fd3
	dnsNextResolver = 0xba93
	dnsADNL         = 0xad01
	dnsStorage      = 0x7473
	dnsText         = 0x1eda
)

// dnsItemCode is the hash of the code of items of .ton names.
var dnsItemCode, _ = base64.StdEncoding.DecodeString("i1/8nr/TkGTY1fVuRlnIJrt1k5I/XKSHKL5NYK9vUfk=")

// dnsCollections are those of .ton names, of mainnet and testnet.
var dnsCollections = []address.Address{
	address.MustParse("0:B774D95EB20543F186C06B371AB88AD704F7E256130CAF96189368A7D0CB6CCF"),
	address.MustParse("0:E33ED33A42EB2032059F97D90C706F8400BB256D32139CA707F1564AD699C7DD"),
}

var (
	renewDNS    = NewType[dnsRenewal]("renew_dns", V1, "dns", "dns.v2")
	deleteDNS   = NewType[dnsDeletion]("delete_dns", V1, "dns", "dns.v2")
	changeDNS   = NewType[dnsChange]("change_dns", V1, "dns", "dns.v2")
	dnsPurchase = NewType[namePurchase]("dns_purchase", V3, "dns", "dns.v2", "nft.v3")
	dnsRelease  = NewType[nameRelease]("dns_release", V3, "dns", "dns.v2", "nft.v3")
)

type dnsRenewal struct {
	Source        Address `detail:"source,account"`
	Asset         Address `detail:"asset,account"`
	NFTCollection Address `detail:"nft_collection"`
}

type dnsDeletion struct {
	Hash          string  `detail:"hash"`
	Source        Address `detail:"source,account"`
	Asset         Address `detail:"asset,account"`
	NFTCollection Address `detail:"nft_collection"`
}

type dnsChange struct {
	Key           string   `detail:"key"`
	Value         dnsValue `detail:"value"`
	Source        Address  `detail:"source,account"`
	Asset         Address  `detail:"asset,account"`
	NFTCollection Address  `detail:"nft_collection"`
}

type dnsValue struct {
	SumType      string  `detail:"sum_type"`
	Wallet       Address `detail:"dns_smc_address"`
	ADNL         *string `detail:"dns_adnl_address"`
	Text         *string `detail:"dns_text"`
	NextResolver Address `detail:"dns_next_resolver_address"`
	Storage      *string `detail:"dns_storage_address"`
	Flags        *int64  `detail:"flags"`
}

type namePurchase struct {
	NFTCollection Address  `detail:"nft_collection"`
	NFTItem       Address  `detail:"nft_item,account"`
	NFTItemIndex  *big.Int `detail:"nft_item_index"`
	NewOwner      Address  `detail:"new_owner,account"`
	Price         uint64   `detail:"price"`
	QueryID       uint64   `detail:"query_id"`
	PayoutAmount  uint64   `detail:"payout_amount"`
}

type nameRelease struct {
	QueryID       uint64   `detail:"query_id"`
	Source        Address  `detail:"source,account"`
	NFTItem       Address  `detail:"nft_item,account"`
	NFTCollection Address  `detail:"nft_collection"`
	NFTItemIndex  *big.Int `detail:"nft_item_index"`
	Value         uint64   `detail:"value"`
}

// dns are records of names, and names that are bought and released.
var dns = &Protocol{
	Name:  "dns",
	Types: []typed{renewDNS, deleteDNS, changeDNS, dnsPurchase, dnsRelease},
	Rules: []Rule{
		{Name: "DNS record", Order: orderDNSRecord, Pattern: Call(opDNSRecord).Where(isItem), Make: makeDNSRecord},
		{
			Name:    "name won at its first auction",
			Order:   orderDNSPurchase,
			Pattern: Call(opFillUp).Where(comesFromDNSItem).Below(Any().Where(isCall).As("call").Kept().Alone()),
			Make:    makeDNSPurchase,
		},
		{
			Name:    "name put up again",
			Order:   orderDNSRelease,
			Pattern: Call(opDNSRelease).Where(func(b *Block) bool { return isDNSItem(b.Contract(b.Destination())) }),
			Make:    makeDNSRelease,
		},
	},
}

func isCall(b *Block) bool { return b.kind == kindCall }

func comesFromDNSItem(b *Block) bool { return isDNSItem(b.Contract(b.Source())) }

// isDNSItem reports whether a contract is an item of a .ton name.
func isDNSItem(c *record.Contract) bool {
	item := c.GetNftItem()
	if item == nil {
		return false
	}
	for i := range dnsCollections {
		if bytes.Equal(item.Collection, dnsCollections[i][:]) {
			return true
		}
	}
	return bytes.Equal(c.CodeHash, dnsItemCode)
}

func makeDNSRecord(m *Match) *Made {
	b := m.Block
	collection := m.Contract(b.Destination()).GetNftItem().GetCollection()
	r := b.Body()
	r.Skip(64) // query_id
	key := r.Hash()
	if r.Failed() {
		return nil
	}
	switch {
	case r.RefsLeft() > 0:
		value := r.Open()
		return changeDNS.Make(&dnsChange{hex.EncodeToString(key), readDNSValue(&value), b.Source(), b.Destination(), collection}).Fails(b.Aborted())
	case bytes.Equal(key, make([]byte, 32)):
		return renewDNS.Make(&dnsRenewal{b.Source(), b.Destination(), collection}).Fails(b.Aborted())
	}
	return deleteDNS.Make(&dnsDeletion{hex.EncodeToString(key), b.Source(), b.Destination(), collection}).Fails(b.Aborted())
}

// readDNSValue reads a DNSRecord (TEP-81). What does not fit its tag is unknown.
func readDNSValue(r *Reader) (v dnsValue) {
	digits := func() *string {
		s := hex.EncodeToString(r.Hash())
		return &s
	}
	flags := func() *int64 {
		n := int64(r.Uint(8))
		return &n
	}
	switch r.Uint(16) {
	case dnsWallet:
		v = dnsValue{SumType: "DNSSmcAddress", Wallet: r.Address(), Flags: flags()}
	case dnsNextResolver:
		v = dnsValue{SumType: "DNSNextResolver", NextResolver: r.Address()}
	case dnsADNL:
		v = dnsValue{SumType: "DNSAdnlAddress", ADNL: digits(), Flags: flags()}
	case dnsStorage:
		v = dnsValue{SumType: "DNSStorageAddress", Storage: digits()}
	case dnsText:
		text := readChunks(r)
		v = dnsValue{SumType: "DNSText", Text: &text}
	default:
		r.FailTag()
	}
	if r.Failed() {
		return dnsValue{SumType: "Unknown"}
	}
	return v
}

// readChunks reads Text: so many chunks, each with its length, the next one in a
// reference.
func readChunks(r *Reader) string {
	var text []byte
	at := *r
	for chunks := at.Uint(8); chunks > 0; chunks-- {
		b := make([]byte, at.Uint(8))
		at.Read(b)
		text = append(text, b...)
		if chunks > 1 {
			at = at.Open()
		}
		if at.Failed() {
			r.FailTag()
			return ""
		}
	}
	return escaped(text)
}

func makeDNSPurchase(m *Match) *Made {
	b, call := m.Block, m.One("call")
	item := m.Contract(b.Source()).GetNftItem()
	r := b.Body()
	query := r.Uint(64)
	// A decision may take the name away, with all that it has.
	if r.Failed() || !bytes.Equal(call.Destination(), b.Source()) || call.IsCall(opDNSDecision) {
		return nil
	}
	owner := call.Source()
	if call.IsCall(opGetStaticData) && item.Owner != nil { // which anybody may ask for
		owner = item.Owner
	}
	return dnsPurchase.Make(&namePurchase{
		NFTCollection: item.Collection, NFTItem: b.Source(), NFTItemIndex: magnitude(item.Index),
		NewOwner: owner, Price: b.Value(), QueryID: query, PayoutAmount: b.Value(),
	}).Fails(b.Aborted())
}

func makeDNSRelease(m *Match) *Made {
	b := m.Block
	item := m.Contract(b.Destination()).GetNftItem()
	r := b.Body()
	query := r.Uint(64)
	if r.Failed() {
		return nil
	}
	return dnsRelease.Make(&nameRelease{
		QueryID: query, Source: b.Source(), NFTItem: b.Destination(), NFTCollection: item.Collection,
		NFTItemIndex: magnitude(item.Index), Value: b.Value(),
	}).Fails(b.Aborted())
}
