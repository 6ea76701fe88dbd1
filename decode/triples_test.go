package decode

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	tcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
	"tonscribe/ton/cell"
)

// triple is a transaction with its account before and after, as bags of cells;
// an account that is not there is nil.
type triple struct {
	name                       string
	transaction, before, after []byte
}

// triples are those of the test data, whose files are named in several ways.
func triples(t *testing.T) (list []triple) {
	t.Helper()
	dir := realdata.Path(t, "accounts_tx_triples")
	read := func(names ...string) []byte {
		for _, name := range names {
			boc, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil {
				return boc
			}
			if !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		return nil
	}
	for _, ending := range []string{"_transaction.boc", "_tx.boc"} {
		files, err := filepath.Glob(filepath.Join(dir, "*"+ending))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ending)
			one := triple{name: name, transaction: read(filepath.Base(file)),
				before: read(name+"_account_old.boc", name+"_acc_old.boc", name+"_old.boc", name+"_account.boc"),
				after:  read(name+"_account_new.boc", name+"_acc_new.boc", name+"_new.boc")}
			list = append(list, one)
		}
	}
	return list
}

// rewritten are the triples whose account after was written by an executor with
// another storage_extra or other fees than the one that made the transaction:
// its hash is another one.
var rewritten = map[string]bool{
	"bounce_message_to_new_account": true, "deploy_fixed_prefix": true, "deploy": true, "msg_body_ref": true, "no_balance_to_send": true,
	"nofunds_without_error": true, "not_abort_accept_account": true, "out_of_gas": true, "rawreserve_flag16": true, "runvm": true,
	"simple": true, "two_messages": true, "with_anycast": true, "wrong_compute_phase": true, "count_steps": true,
}

const (
	// invented is a transaction that begins with the state of an active account
	// and says that there is none.
	invented = "with_bad_anycast"
	// lone has one account, which is neither that before nor that after.
	lone = "revert_action"
)

// account reads a state by way of the record that a store has of it.
func (o *triple) account(t *testing.T, boc []byte) (state *record.AccountState, hash []byte) {
	t.Helper()
	if boc == nil {
		return &record.AccountState{Status: record.AccountStatus_ACCOUNT_NONEXIST}, noAccountHash[:]
	}
	bag, err := cell.Parse(boc)
	if err != nil {
		t.Fatalf("%s: %v", o.name, err)
	}
	root, err := bag.Single()
	if err != nil {
		t.Fatalf("%s: %v", o.name, err)
	}
	var recorder cell.Recorder
	var own []byte
	recorder.Begin(bag)
	recorder.Record(root, func(hash *[32]byte, record []byte) bool {
		own = bytes.Clone(record)
		return false
	})
	var d Decoder
	if state, err = d.AccountState(own); err != nil {
		t.Fatalf("%s: %v", o.name, err)
	}
	return state, bytes.Clone(root.Hash()[:])
}

// checkState compares a state with what another library reads of it.
func (o *triple) checkState(t *testing.T, got *record.AccountState, gotHash, boc []byte) {
	t.Helper()
	root, err := tcell.FromBOC(boc)
	if err != nil {
		t.Fatalf("%s: %v", o.name, err)
	}
	var state tlb.AccountState
	if err := tlb.Parse(&state, root); err != nil {
		t.Fatalf("%s: %v", o.name, err)
	}
	want := &record.AccountState{Status: record.AccountStatus_ACCOUNT_NONEXIST}
	if state.IsValid {
		want.Status = map[tlb.AccountStatus]record.AccountStatus{
			tlb.AccountStatusActive: record.AccountStatus_ACCOUNT_ACTIVE, tlb.AccountStatusUninit: record.AccountStatus_ACCOUNT_UNINIT,
			tlb.AccountStatusFrozen: record.AccountStatus_ACCOUNT_FROZEN}[state.Status]
		want.Balance = state.Balance.Nano().Uint64()
		want.ExtraCurrencies = extraOf(t, state.ExtraCurrencies)
		if state.Status == tlb.AccountStatusFrozen {
			want.FrozenHash = state.StateHash
		}
		if s := state.StateInit; s != nil && s.Code != nil {
			want.CodeHash = s.Code.Hash(0)
		}
		if s := state.StateInit; s != nil && s.Data != nil {
			want.DataHash = s.Data.Hash(0)
		}
	}
	if !got.EqualVT(want) {
		t.Errorf("%s: state\n%v, tonutils-go reads\n%v", o.name, got, want)
	}
	if !bytes.Equal(gotHash, root.Hash()) {
		t.Errorf("%s: state hash %x, tonutils-go reads %x", o.name, gotHash, root.Hash())
	}
}

func extraOf(t *testing.T, dict *tcell.Dictionary) (list []*record.ExtraCurrency) {
	t.Helper()
	if dict == nil {
		return nil
	}
	entries, err := dict.LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		amount, err := e.Value.LoadVarUInt(32)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, &record.ExtraCurrency{Id: uint32(e.Key.MustLoadUInt(32)), Amount: amount.Bytes()})
	}
	return list
}

// check compares all that the three say of each other.
func (o *triple) check(t *testing.T) (tx *record.Transaction) {
	t.Helper()
	var d Decoder
	tx, err := d.Transaction(o.transaction, 0)
	if err != nil {
		t.Fatalf("%s: %v", o.name, err)
	}
	before, hashBefore := o.account(t, o.before)
	if o.before != nil {
		o.checkState(t, before, hashBefore, o.before)
	}
	if o.name == lone {
		return tx
	}
	if !bytes.Equal(tx.StateHashBefore, hashBefore) {
		t.Errorf("%s: the transaction begins with state %x, the state is %x", o.name, tx.StateHashBefore, hashBefore)
	}
	after, hashAfter := o.account(t, o.after)
	o.checkState(t, after, hashAfter, o.after)
	if equal := bytes.Equal(tx.StateHashAfter, hashAfter); equal == rewritten[o.name] {
		t.Errorf("%s: the transaction ends with state %x, which is %x: equal %t", o.name, tx.StateHashAfter, hashAfter, equal)
	}
	if computed := balanceBefore(after.Balance, tx); computed != before.Balance {
		t.Errorf("%s: balance %d before, computed %d", o.name, before.Balance, computed)
	}
	computed := &record.AccountState{}
	if err := extraBefore(computed, after, tx); err != nil || !(&record.AccountState{ExtraCurrencies: before.ExtraCurrencies}).EqualVT(computed) {
		t.Errorf("%s: extra currencies %v before, computed %v, %v", o.name, before.ExtraCurrencies, computed.ExtraCurrencies, err)
	}
	if o.name == invented {
		return tx
	}
	change := &Change{Account: tx.Account, Transactions: []*record.Transaction{tx}, Before: before, After: after}
	if err := change.complete(); err != nil || !tx.StateBefore.EqualVT(before) || !tx.StateAfter.EqualVT(after) {
		t.Errorf("%s: the states of the transaction are\n%v and\n%v, want\n%v and\n%v, %v", o.name, tx.StateBefore, tx.StateAfter, before, after, err)
	}
	return tx
}

func TestStatesOfLoneAccountsAreThoseOfTheirTransactions(t *testing.T) {
	list := triples(t)
	ends := map[record.AccountStatus]int{}
	aborted, created := 0, 0
	for _, o := range list {
		tx := o.check(t)
		ends[tx.EndStatus]++
		if tx.Aborted {
			aborted++
		}
		if o.before == nil {
			created++
		}
	}
	t.Logf("%d triples: %d without an account before, %d aborted, by end status %v", len(list), created, aborted, ends)
	if len(list) != 54 {
		t.Errorf("%d triples, want 54", len(list))
	}
}

// A replay has ShardAccounts: account, hash and lt of its last transaction.
func TestStatesOfReplayedAccountsAreThoseOfTheirTransactions(t *testing.T) {
	var replay struct {
		Accounts []struct {
			Address string
			From    []byte `json:"from_shard_account_boc_base64"`
			To      []byte `json:"to_shard_account_boc_base64"`
			First   struct {
				Lt   uint64
				Hash string `json:"expected_tx_hash"`
				BoC  []byte `json:"expected_tx_boc_base64"`
			} `json:"first_tx"`
		}
	}
	readJSON(t, realdata.Path(t, "replay", "transaction_replay_regression.json"), &replay)
	for _, a := range replay.Accounts {
		o := triple{name: a.Address, transaction: a.First.BoC}
		var last tlb.ShardAccount
		o.before, _ = accountIn(t, a.From)
		o.after, last = accountIn(t, a.To)
		tx := o.check(t)
		if hex.EncodeToString(tx.Hash) != a.First.Hash || tx.Lt != a.First.Lt || !bytes.Equal(last.LastTransHash, tx.Hash) || last.LastTransLT != tx.Lt {
			t.Errorf("%s: transaction %x at %d, want %s at %d; the account's last one is %x at %d", a.Address, tx.Hash, tx.Lt, a.First.Hash, a.First.Lt,
				last.LastTransHash, last.LastTransLT)
		}
	}
	if len(replay.Accounts) != 2 {
		t.Errorf("%d accounts, want 2", len(replay.Accounts))
	}
}

// accountIn is the BoC of the account in a ShardAccount.
func accountIn(t *testing.T, boc []byte) ([]byte, tlb.ShardAccount) {
	t.Helper()
	root, err := tcell.FromBOC(boc)
	if err != nil {
		t.Fatal(err)
	}
	var a tlb.ShardAccount
	if err := tlb.Parse(&a, root); err != nil {
		t.Fatal(err)
	}
	return a.Account.ToBOC(), a
}
