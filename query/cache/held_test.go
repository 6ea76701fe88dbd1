package cache

import (
	"context"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/report"
	"tonscribe/query/head"
	"tonscribe/query/memory"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
	"tonscribe/ton/address"
)

// The bundle here is one that changes an account, which has another code before it than
// behind it.
const before, bundle = 7, 8

var (
	changed          = address.Address{35: 1}
	oldCode, newCode = Hash{1}, Hash{2}
)

func stateOf(mcSeqno uint32, code Hash) *record.Account {
	return &record.Account{
		Account: changed[:], McSeqno: mcSeqno, LastTransLt: uint64(mcSeqno), Hash: make([]byte, len(Hash{})),
		State: &record.AccountState{Status: record.AccountStatus_ACCOUNT_ACTIVE, CodeHash: code[:]},
	}
}

func walletOf(mcSeqno uint32) *record.Contract {
	return &record.Contract{Account: changed[:], McSeqno: mcSeqno, FirstMcSeqno: 1, JettonWallet: &record.JettonWallet{Owner: changed[:], Master: changed[:]}}
}

// bundleInMemory has the rows of the bundle.
func bundleInMemory(t *testing.T) *memory.Bundle {
	t.Helper()
	b := memory.NewBundle(bundle)
	for topic, r := range map[string]*record.Record{
		schema.Accounts.Name: {McSeqno: bundle, Content: &record.Record_Accounts{Accounts: &record.AccountBatch{
			Accounts: []*record.Account{stateOf(bundle, newCode)}, Codes: []*record.Code{{Hash: newCode[:], Boc: []byte("code"), Methods: []uint32{85143}, MethodsKnown: true}},
		}}},
		schema.Contracts.Name: {McSeqno: bundle, Content: &record.Record_Contracts{Contracts: &record.ContractBatch{Contracts: []*record.Contract{walletOf(bundle)}}}},
	} {
		f, err := table.NewFeed(topic, table.Options{Take: b.Add})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := r.MarshalVT()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Add(r, raw); err != nil {
			t.Fatal(err)
		}
	}
	b.Sort()
	return b
}

// theBundle is a cache that sees the bundle in memory, until it is in the tables.
type theBundle struct {
	*Cache
	view *head.View
}

func newBundle(t *testing.T) *theBundle {
	t.Helper()
	metrics := report.Silent()
	c := New(reader.New(reader.Configuration{Connections: 2, ClientConnections: 1}, clickhouse.Options{}, metrics), 1<<20, metrics)
	in := memory.Bundles{bundleInMemory(t)}
	b := &theBundle{c, &head.View{Watermark: bundle, Tables: before, Memory: in, Held: in}}
	b.goBack()
	return b
}

// goBack makes it be in memory only.
func (b *theBundle) goBack() {
	b.held.InvalidateAll()
	b.upTo.Store(before)
	b.newest.Store(b.view)
}

// goOn brings it into the tables.
func (b *theBundle) goOn() {
	b.dropping.Lock()
	defer b.dropping.Unlock()
	b.drop(map[address.Address]accountCode{changed: {account: changed, version: 2 * bundle, hash: newCode, active: true}}, []sql.AccountKey{sql.KeyOf(changed[:])}, nil)
	b.upTo.Store(bundle)
	b.newest.Store(&head.View{Watermark: bundle, Tables: bundle})
}

// read is a statement that sees what is in the tables before the bundle, which is there
// when its answer comes.
func read[K comparable, V any](b *theBundle, key K, value V) func(context.Context, []K) (map[K]V, error) {
	return func(context.Context, []K) (map[K]V, error) {
		b.goOn()
		return map[K]V{key: value}, nil
	}
}

func packedOf(t *testing.T, r interface{ MarshalVT() ([]byte, error) }) packed {
	t.Helper()
	raw, err := r.MarshalVT()
	if err != nil || len(raw) > 127 {
		t.Fatal(len(raw), err)
	}
	return append(packed{byte(len(raw))}, raw...)
}

// Who began to ask when a bundle was in memory sees it, though it left the memory for
// the tables when these had been read.
func TestABundleThatLeavesTheMemoryWhileTablesAreReadIsSeen(t *testing.T) {
	b := newBundle(t)
	key := sql.KeyOf(changed[:])
	b.states = rowsOf(b.Cache, states, accountKey, sql.AccountKey.Compare, read(b, key, packedOf(t, stateOf(before, oldCode))))
	b.contracts = rowsOf(b.Cache, contracts, accountKey, sql.AccountKey.Compare, read(b, key, packedOf(t, walletOf(before))))
	b.accounts = rowsOf(b.Cache, accounts, accountKey, sql.AccountKey.Compare, read(b, key, accountCodes{{account: changed, version: 2 * before, hash: oldCode, active: true}}))
	b.codes = rowsOf(b.Cache, codes, hashKey, CompareHashes, read(b, newCode, codeOf(newCode, []uint32{85143}, true)))
	b.bocs = rowsOf(b.Cache, bocs, hashKey, CompareHashes, read(b, oldCode, BoC("old")))

	list, err := b.States(t.Context(), []sql.AccountKey{key})
	if got := list[changed].GetMcSeqno(); err != nil || got != bundle {
		t.Errorf("the state is that of bundle %d, want %d; %v", got, bundle, err)
	}
	b.goBack()
	facts, err := b.ContractsAt(t.Context(), b.Memory(), []sql.AccountKey{key})
	if got := facts[changed].GetMcSeqno(); err != nil || got != bundle {
		t.Errorf("the facts are those of bundle %d, want %d; %v", got, bundle, err)
	}
	b.goBack()
	entries, err := b.Directory(t.Context(), []address.Address{changed})
	if code := entries[changed].Code; err != nil || code == nil || code.Hash != newCode || len(code.Methods) != 1 {
		t.Errorf("the directory has the code %+v, want %x with its method; %v", code, newCode[:1], err)
	}
	b.goBack()
	b.codes = rowsOf(b.Cache, codes, hashKey, CompareHashes, read(b, oldCode, codeOf(oldCode, nil, true)))
	known, err := b.Codes(t.Context(), []Hash{newCode})
	if code := known[newCode]; err != nil || len(code.Methods) != 1 {
		t.Errorf("the code is %+v, want one with a method; %v", code, err)
	}
	b.goBack()
	found, err := b.CodeBoCs(t.Context(), []Hash{newCode})
	if got := string(found[newCode]); err != nil || got != "code" {
		t.Errorf("the bag of the code is %q, want %q; %v", got, "code", err)
	}
}

// A code that was in memory only, and not in the tables, is found when it is in these.
func TestACodeIsKnownWhenItsBundleLeavesTheMemory(t *testing.T) {
	b := newBundle(t)
	known := map[Hash]*Code{}
	bags := map[Hash]BoC{}
	b.codes = rowsOf(b.Cache, codes, hashKey, CompareHashes, func(context.Context, []Hash) (map[Hash]*Code, error) { return known, nil })
	b.bocs = rowsOf(b.Cache, bocs, hashKey, CompareHashes, func(context.Context, []Hash) (map[Hash]BoC, error) { return bags, nil })
	look := func(where string) {
		t.Helper()
		list, err := b.Codes(t.Context(), []Hash{newCode})
		if code := list[newCode]; err != nil || len(code.Methods) != 1 {
			t.Errorf("%s: the code is %+v, want one with a method; %v", where, code, err)
		}
		found, err := b.CodeBoCs(t.Context(), []Hash{newCode})
		if got := string(found[newCode]); err != nil || got != "code" {
			t.Errorf("%s: the bag is %q, want %q; %v", where, got, "code", err)
		}
	}
	look("in memory")
	known[newCode], bags[newCode] = codeOf(newCode, []uint32{85143}, true), BoC("code")
	b.goOn()
	look("in the tables")
}
