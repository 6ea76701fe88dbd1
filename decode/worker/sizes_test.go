package worker

import (
	"bytes"
	"slices"
	"testing"

	tcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
	"tonscribe/decode/cellstore"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/internal/retry"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// full is a cell with as many bytes as a cell has.
func full(kind, i int, refs ...*tcell.Cell) *tcell.Cell {
	b := tcell.BeginCell().MustStoreUInt(uint64(kind), 32).MustStoreUInt(uint64(i), 32).MustStoreSlice(make([]byte, 119), 952)
	for _, r := range refs {
		b.MustStoreRef(r)
	}
	return b.EndCell()
}

// treeOf has about a third more cells than leaves.
func treeOf(leaves int) *tcell.Cell {
	var level []*tcell.Cell
	for i := range leaves {
		level = append(level, full(1, i))
	}
	for kind := 2; len(level) > 1; kind++ {
		var above []*tcell.Cell
		for i := 0; i < len(level); i += 4 {
			above = append(above, full(kind, i, level[i:min(i+4, len(level))]...))
		}
		level = above
	}
	return level[0]
}

// keepCells puts the cells of a tree where the store is looked into first.
func (k *accountStates) keepCells(t *testing.T, root *tcell.Cell) [32]byte {
	t.Helper()
	var bag cell.Bag
	if err := bag.Parse(root.ToBOC()); err != nil {
		t.Fatal(err)
	}
	c, err := bag.Single()
	if err != nil {
		t.Fatal(err)
	}
	var recorder cell.Recorder
	recorder.Begin(&bag)
	recorder.Record(c, func(hash *[32]byte, r []byte) bool {
		k.batch.Put(*hash, append([]byte(nil), r...))
		return true
	})
	return *c.Hash()
}

// unstored are states of accounts without a store.
func unstored(t *testing.T) *accountStates {
	t.Helper()
	silent := report.Silent()
	k, err := newAccountStates(t.Context(), &Component{report: silent, metrics: newMetrics(silent.Meter("decode"))}, &kafka.PartitionReader{})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func checkRecordsFit(t *testing.T, b *bundle) {
	t.Helper()
	b.assemble(1 << 20)
	for _, r := range b.accountRecords {
		if size := r.SizeVT(); size > schema.Accounts.MaxMessageBytes {
			t.Errorf("record %d has %d bytes, the topic takes %d", r.Index, size, schema.Accounts.MaxMessageBytes)
		}
	}
}

// lent is a dictionary of n libraries (Hashmap 256 SimpleLib) from one on.
func lent(t *testing.T, first, n int) *tcell.Cell {
	t.Helper()
	dict, shared := tcell.NewDict(256), treeOf(750)
	for i := range n {
		library := full(0, first+i, shared)
		key := tcell.BeginCell().MustStoreSlice(library.Hash(), 256).EndCell()
		if err := dict.Set(key, tcell.BeginCell().MustStoreBoolBit(true).MustStoreRef(library).EndCell()); err != nil {
			t.Fatal(err)
		}
	}
	return dict.AsCell()
}

// An account of mainnet may lend 256 libraries of 1000 cells, and all of them may have
// the same cells but one.
func TestLibrariesOfABundleFitIntoItsRecordHoweverManyAreLent(t *testing.T) {
	k, b := unstored(t), &bundle{mcSeqno: 1, seal: &record.Seal{}}
	for account := range 3 {
		hash := k.keepCells(t, lent(t, 1000*account, 256))
		if err := k.libraries(&hash, b); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.libraries) == 0 {
		t.Error("no library is told")
	}
	checkRecordsFit(t, b)
}

func TestABundleHasRoomForTheSameLibrariesEveryTime(t *testing.T) {
	var dicts []*tcell.Cell
	for account := range 4 {
		dicts = append(dicts, lent(t, 1000*account, 8))
	}
	var first []*record.Library
	for range 8 {
		k, b, accounts := unstored(t), &bundle{mcSeqno: 1, seal: &record.Seal{}}, map[string]*accountChange{}
		for i, dict := range dicts {
			hash, account := k.keepCells(t, dict), bytes.Repeat([]byte{0xff, byte(i)}, schema.AddressSize/2)
			accounts[string(account)] = &accountChange{Account: &record.Account{Account: account},
				change: &decode.Change{Transactions: []*record.Transaction{{}}, After: &record.AccountState{}, Libraries: &hash}}
		}
		if err := k.complete(b, accounts); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b.libraries
		}
		if !slices.EqualFunc(first, b.libraries, (*record.Library).EqualVT) {
			t.Fatalf("%d libraries, the first of hash %x, then %d, the first of hash %x", len(first), first[0].Hash, len(b.libraries), b.libraries[0].Hash)
		}
	}
}

func TestWhatArrivesAtOnceFitsIntoRecords(t *testing.T) {
	k, shared := unstored(t), treeOf(1400)
	k.fetcher = &fetcher{Component: k.Component, batch: cellstore.NewBatch(), wanted: map[string]*record.Wanted{}}
	k.fetcher.queue = retry.New(retry.DefaultConfiguration(), k.fetcher.ask)
	const count = 100
	for i := range count {
		hash := k.keepCells(t, full(0, i, shared))
		account := make([]byte, schema.AddressSize)
		account[4] = byte(i)
		w := &record.Wanted{Account: &record.Account{Account: account, State: &record.AccountState{CodeHash: hash[:]}}}
		k.fetcher.wanted[string(account)] = w
		k.fetcher.answers = append(k.fetcher.answers, &answer{wanted: w})
	}
	codes := 0
	for seqno := uint32(2); seqno < 2+count && codes < count; seqno++ {
		b := &bundle{mcSeqno: seqno, prev: seqno - 1, seal: &record.Seal{}}
		if err := k.arrived(b); err != nil {
			t.Fatal(err)
		}
		codes += len(b.codes)
		checkRecordsFit(t, b)
	}
	if codes != count {
		t.Errorf("%d codes were told, %d arrived", codes, count)
	}
}

// Whoever deploys such a thing must not make us ask lite servers, and warn, with every
// transaction.
func TestWhatIsTooLargeToBeToldIsNotMissed(t *testing.T) {
	large := tcell.BeginCell().MustStoreRef(treeOf(2000)).EndCell() // more than MaxCodeBytes and MaxDataBytes
	more := treeOf(13000)                                           // more than maxCells with references
	for name, look := range map[string]func(k *accountStates) error{
		"code": func(k *accountStates) error {
			_, err := k.code(k.keepCells(t, large), new(decode.Change))
			return err
		},
		"code of many cells": func(k *accountStates) error {
			_, err := k.code(k.keepCells(t, more), new(decode.Change))
			return err
		},
		"data": func(k *accountStates) error {
			_, err := k.dataOf(k.keepCells(t, large), new(decode.Change))
			return err
		},
		"libraries": func(k *accountStates) error {
			hash := k.keepCells(t, lent(t, 0, 5000))
			return k.libraries(&hash, &bundle{})
		},
	} {
		k := unstored(t)
		if err := look(k); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if k.lacks {
			t.Errorf("%s: it is missed, want it left out", name)
		}
	}
}
