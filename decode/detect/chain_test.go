package detect

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
	"tonscribe/devnet/chain"
	"tonscribe/devnet/traffic"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// step is what a bundle brings, before it is cut into partitions.
type step struct {
	mcSeqno, prev uint32
	master        *record.BlockId
	genUtime      uint32
	accounts      []*record.Account
	late          []*record.Account
	codes         []*record.Code
	config        []byte
	transactions  []*record.Transaction
}

// town is a devnet with its traffic, and what the stages before this one would
// publish of it.
type town struct {
	testing.TB
	chain *chain.Chain
	codes map[string]bool
	steps []*step
}

// newTown runs a devnet for so many bundles.
func newTown(t testing.TB, bundles, transactions int) *town {
	t.Helper()
	life := traffic.New(1, traffic.Options{Wallets: 60})
	c, err := chain.New(chain.Options{Seed: 1, GenUtime: 1_750_000_000, Accounts: life.Accounts(), Params: life.Params()})
	if err != nil {
		t.Fatal(err)
	}
	w := &town{TB: t, chain: c, codes: map[string]bool{}}
	master, base := c.Zerostates()
	now := uint32(1_750_000_000)
	for seqno := uint32(1); seqno <= uint32(bundles); seqno++ {
		now += 5
		messages, err := life.Next(c, seqno, now, transactions)
		if err != nil {
			t.Fatal(err)
		}
		bundle, err := c.Step(now, messages)
		if err != nil {
			t.Fatal(err)
		}
		w.take(bundle)
		if seqno == 1 {
			w.zerostate(master, base)
		}
	}
	return w
}

func blockID(id *ton.BlockIDExt) *record.BlockId {
	return &record.BlockId{Workchain: id.Workchain, Shard: uint64(id.Shard), Seqno: id.SeqNo, RootHash: id.RootHash, FileHash: id.FileHash}
}

func (w *town) take(b *chain.Bundle) {
	w.Helper()
	s := &step{mcSeqno: b.Master.ID.SeqNo, prev: b.Master.ID.SeqNo - 1, master: blockID(b.Master.ID), genUtime: b.Master.GenUtime}
	states := map[string]*record.Account{}
	var decoder decode.Decoder
	for _, block := range append(slices.Clone(b.Shards), b.Master) {
		result, err := decoder.Known(blockID(block.ID), block.Data, s.mcSeqno)
		if err != nil {
			w.Fatal(err)
		}
		if result.Config != nil {
			s.config = result.Config
		}
		s.transactions = append(s.transactions, result.Transactions...)
		var state tlb.ShardStateUnsplit
		if err := tlb.Parse(&state, block.State); err != nil {
			w.Fatal(err)
		}
		for _, c := range result.Changes {
			states[string(c.Account)] = w.account(s, c, &state)
		}
	}
	for _, a := range states {
		s.accounts = append(s.accounts, a)
	}
	slices.SortFunc(s.accounts, func(a, b *record.Account) int { return bytes.Compare(a.Account, b.Account) })
	w.steps = append(w.steps, s)
}

// account is the state that a block leaves.
func (w *town) account(s *step, c *decode.Change, state *tlb.ShardStateUnsplit) *record.Account {
	w.Helper()
	t := c.Transactions[len(c.Transactions)-1]
	a := &record.Account{Account: c.Account, McSeqno: s.mcSeqno, LastTransLt: t.Lt, LastTransHash: t.Hash, Now: t.Now, Hash: t.StateHashAfter,
		State: &record.AccountState{Status: record.AccountStatus_ACCOUNT_NONEXIST}}
	key := cell.BeginCell().MustStoreSlice(schema.AccountID(c.Account), 256).EndCell()
	value, _, err := state.Accounts.ShardAccounts.LoadValueExtra(key)
	if errors.Is(err, cell.ErrNoSuchKeyInDict) {
		return a
	}
	if err != nil {
		w.Fatal(err)
	}
	var leaf tlb.ShardAccount
	if err := tlb.LoadFromCell(&leaf, value); err != nil {
		w.Fatal(err)
	}
	w.fill(s, a, leaf.Account)
	return a
}

func (w *town) fill(s *step, a *record.Account, root *cell.Cell) {
	w.Helper()
	var state tlb.AccountState
	if err := tlb.Parse(&state, root); err != nil {
		w.Fatal(err)
	}
	if !state.IsValid {
		return
	}
	a.State.Balance = state.Balance.Nano().Uint64()
	switch state.Status {
	case tlb.AccountStatusFrozen:
		a.State.Status = record.AccountStatus_ACCOUNT_FROZEN
	case tlb.AccountStatusUninit:
		a.State.Status = record.AccountStatus_ACCOUNT_UNINIT
	case tlb.AccountStatusActive:
		a.State.Status = record.AccountStatus_ACCOUNT_ACTIVE
		if code := state.StateInit.Code; code != nil {
			a.State.CodeHash = code.Hash()
			if !w.codes[string(a.State.CodeHash)] {
				w.codes[string(a.State.CodeHash)] = true
				s.codes = append(s.codes, &record.Code{Hash: a.State.CodeHash, Boc: code.ToBOC()})
			}
		}
		if data := state.StateInit.Data; data != nil {
			a.State.DataHash, a.Data = data.Hash(), data.ToBOC()
		}
	}
}

// zerostate makes its accounts late ones of the first bundle.
func (w *town) zerostate(zerostates ...*chain.Zerostate) {
	w.Helper()
	s := w.steps[0]
	for _, z := range zerostates {
		var state tlb.ShardStateUnsplit
		if err := tlb.Parse(&state, z.State); err != nil {
			w.Fatal(err)
		}
		entries, err := state.Accounts.ShardAccounts.Range(false, false)
		if err != nil {
			w.Fatal(err)
		}
		for _, entry := range entries {
			id, err := entry.Key.MustBeginParse().LoadSlice(256)
			if err != nil {
				w.Fatal(err)
			}
			n := uint32(z.ID.Workchain)
			a := &record.Account{Account: append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, id...),
				State: &record.AccountState{Status: record.AccountStatus_ACCOUNT_NONEXIST}}
			root, err := entry.Value.LoadRefCell()
			if err != nil {
				w.Fatal(err)
			}
			w.fill(s, a, root)
			s.late = append(s.late, a)
		}
	}
}

// records are the bundle's records for one partition of the two topics.
func (s *step) records(partition, partitions int) (accounts, transactions []*record.Record) {
	mine := func(account []byte) bool {
		return schema.PartitionOf(schema.AccountID(account), partitions) == partition
	}
	batch := &record.AccountBatch{}
	for _, a := range s.accounts {
		if mine(a.Account) {
			batch.Accounts = append(batch.Accounts, a)
		}
	}
	for _, a := range s.late {
		if mine(a.Account) {
			batch.Late = append(batch.Late, a)
		}
	}
	batch.Codes = s.codes
	if partition == 0 {
		batch.Config = s.config
	}
	list := &record.TransactionBatch{}
	for _, t := range s.transactions {
		if mine(t.Account) {
			list.Transactions = append(list.Transactions, t)
		}
	}
	seal := func(index, rows int) *record.Record {
		return &record.Record{McSeqno: s.mcSeqno, PrevMcSeqno: s.prev, Index: uint32(index), Content: &record.Record_Seal{
			Seal: &record.Seal{Rows: uint64(rows), Master: s.master, GenUtime: s.genUtime}}}
	}
	return []*record.Record{
			{McSeqno: s.mcSeqno, PrevMcSeqno: s.prev, Content: &record.Record_Accounts{Accounts: batch}}, seal(1, len(batch.Accounts)),
		}, []*record.Record{
			{McSeqno: s.mcSeqno, PrevMcSeqno: s.prev, Content: &record.Record_Transactions{Transactions: list}}, seal(1, len(list.Transactions)),
		}
}

// bundle is the step as the session hands it to the work.
func (s *step) bundle() *bundle {
	return &bundle{mcSeqno: s.mcSeqno, prev: s.prev, seal: &record.Seal{Master: s.master, GenUtime: s.genUtime},
		accounts: s.accounts, late: s.late, codes: s.codes, config: s.config, transactions: slices.Clone(s.transactions)}
}
