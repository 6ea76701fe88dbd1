package verify

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"

	"tonscribe/decode"
	"tonscribe/schema"
	"tonscribe/schema/record"
	tcell "tonscribe/ton/cell"
)

// accounts declares what stands beside an account's record.
var accounts = &table{name: "accounts", key: 3, columns: []column{
	{name: "workchain", form: formSigned, value: func(i *item) uint64 { return uint64(int64(schema.Workchain(i.account.Account))) }},
	{name: "account_prefix", form: formBits, value: func(i *item) uint64 { return schema.Prefix(schema.AccountID(i.account.Account)) }},
	{name: "account", form: formHash, bytes: func(i *item) []byte { return schema.AccountID(i.account.Account) }},
	{name: "mc_seqno", value: func(i *item) uint64 { return uint64(i.account.McSeqno) }},
	{name: "now", value: func(i *item) uint64 { return uint64(i.account.Now) }},
	{name: "status", form: formEnum, value: func(i *item) uint64 { return uint64(i.account.State.GetStatus()) }},
	{name: "balance", value: func(i *item) uint64 { return i.account.State.GetBalance() }},
	{name: "code_hash", form: formHash, bytes: func(i *item) []byte { return i.account.State.GetCodeHash() }},
}}

// tip is what the last transaction of an account left.
type lastTransaction struct {
	lt, mcSeqno uint64
	hash, state [32]byte
	now         uint32
	after       *record.AccountState
}

// keepLast notes the last transaction of the accounts of a slice, which come
// with ascending lt.
func (w *transactionWalk) keepLast(r *transactionRow) {
	t := r.record
	w.lasts[r.account] = lastTransaction{t.Lt, uint64(t.McSeqno), [32]byte(t.Hash), [32]byte(t.StateHashAfter), t.Now, t.StateAfter}
}

// checkLatest compares the table accounts with what the last transactions of the
// accounts of a slice left.
func (w *transactionWalk) checkLatest(ctx context.Context, part *slice) error {
	if !w.findings.wants(CheckLatest) && !w.findings.wants(CheckContracts) {
		return nil
	}
	var rows uint64
	err := w.eachAccount(ctx, part, func(r *accountRow) error {
		rows++
		last, there := w.lasts[r.account]
		delete(w.lasts, r.account)
		if err := w.latest(ctx, r, last, there); err != nil {
			return err
		}
		return w.describe(ctx, r)
	})
	for account, last := range w.lasts {
		w.findings.differs(CheckLatest, "accounts", accountKey(part.workchain, account), "no row, but the account has a transaction of lt %d", last.lt)
	}
	w.findings.checked(CheckLatest, rows)
	return err
}

func (w *transactionWalk) latest(ctx context.Context, r *accountRow, last lastTransaction, there bool) error {
	differs := func(format string, args ...any) {
		w.findings.differs(CheckLatest, "accounts", r.key(), format, args...)
	}
	a := r.record
	if a == nil {
		differs("record is no complete account")
		return nil
	}
	if accounts.hash(&item{account: a}) != r.columns {
		return w.columns(ctx, accounts, r.key(), &item{account: a})
	}
	late := a.LastTransLt<<1 | 1
	if r.version != a.LastTransLt<<1 && r.version != late {
		differs("version is %d, the record's last_trans_lt %d", r.version, a.LastTransLt)
	}
	switch {
	case a.McSeqno > w.to || a.McSeqno < w.from || a.LastTransLt == 0:
		// Its last transaction is not in the range, or it never had one.
	case !there:
		differs("last_trans_lt is %d, but the account has no transaction in the range", a.LastTransLt)
	case a.LastTransLt != last.lt || !bytes.Equal(a.LastTransHash, last.hash[:]) || a.Now != last.now || uint64(a.McSeqno) != last.mcSeqno:
		differs("last transaction (%d, %x) of bundle %d, but the table transactions has (%d, %x) of bundle %d", a.LastTransLt, a.LastTransHash, a.McSeqno,
			last.lt, last.hash, last.mcSeqno)
	case !bytes.Equal(a.Hash, last.state[:]):
		differs("hash is %x, but the last transaction left state %x", a.Hash, last.state)
	default:
		if what := stateDifference(a.State, last.after); what != "" {
			differs("it and the state after its last transaction differ: %s", what)
		}
	}
	if problem := wrongBoC(a.Data, a.State.GetDataHash()); problem != "" {
		differs("data: %s", problem)
	}
	return nil
}

// wrongBoC says what is wrong with a bag of cells that should have a hash; an
// empty one is right.
func wrongBoC(boc, hash []byte) string {
	if len(boc) == 0 {
		return ""
	}
	bag, err := tcell.Parse(boc)
	if err != nil {
		return err.Error()
	}
	root, err := bag.Single()
	if err != nil {
		return err.Error()
	}
	if !bytes.Equal(root.Hash()[:], hash) {
		return fmt.Sprintf("its hash is %x, not %x", *root.Hash(), hash)
	}
	return ""
}

// accountRow is the newest row of an account.
type accountRow struct {
	workchain int32
	account   string
	version   uint64
	columns   uint64
	raw       []byte
	record    *record.Account
}

func (r *accountRow) key() string { return accountKey(r.workchain, r.account) }

func accountKey(workchain int32, account string) string {
	return fmt.Sprintf("workchain = %d AND account_prefix = 0x%x AND account = unhex('%x')", workchain, account[:8], account)
}

// eachAccount hands out the newest row of every account of a slice, in the order
// of the key.
func (d *database) eachAccount(ctx context.Context, s *slice, take func(*accountRow) error) error {
	var r accountRow
	var newest *accountRow
	query := fmt.Sprintf(`SELECT workchain, account, version, %s, record FROM accounts
		WHERE workchain = ? AND account_prefix BETWEEN ? AND ? ORDER BY workchain, account_prefix, account %s`, accounts.hashSQL(), streaming)
	err := d.each(ctx, query, []any{s.workchain, s.low, s.high}, []any{&r.workchain, &r.account, &r.version, &r.columns, &r.raw}, func() error {
		row := r
		if newest != nil && newest.account == row.account {
			if row.version >= newest.version {
				newest = &row
			}
			return nil
		}
		before := newest
		newest = &row
		if before == nil {
			return nil
		}
		return before.handOut(take)
	})
	if err != nil || newest == nil {
		return err
	}
	return newest.handOut(take)
}

func (r *accountRow) handOut(take func(*accountRow) error) error {
	r.record = new(record.Account)
	if r.record.UnmarshalVT(r.raw) != nil || len(r.record.Account) != schema.AddressSize || r.record.State == nil {
		r.record = nil
	}
	return take(r)
}

// checkBalances compares the ranking of balances with the accounts: every one is
// there once, with the balance of its newest state, whatever was skipped before
// that.
func (v *verifier) checkBalances(ctx context.Context) error {
	if !v.findings.wants(CheckLatest) {
		return nil
	}
	const ofAccounts = `SELECT workchain, account, balance FROM accounts FINAL WHERE status != 'nonexist'`
	const ofRanking = `SELECT workchain, account, balance FROM accounts_by_balance FINAL WHERE gone = 0`
	var want, have cellSum
	var workchain int32
	var account string
	var balance uint64
	err := v.each(ctx, ofAccounts, nil, []any{&workchain, &account, &balance}, func() error {
		want.add(workchain, account, balance)
		return nil
	})
	if err != nil {
		return err
	}
	err = v.each(ctx, ofRanking, nil, []any{&workchain, &account, &balance}, func() error {
		have.add(workchain, account, balance)
		return nil
	})
	if err != nil || want == have {
		return err
	}
	return v.mustName(CheckLatest, "accounts_by_balance", v.from, v.to, func() error { return v.locateBalance(ctx, ofAccounts, ofRanking) })
}

// cellSum sums up accounts with their balances, in any order.
type cellSum struct{ rows, sum uint64 }

func (s *cellSum) add(workchain int32, account string, balance uint64) {
	s.rows++
	s.sum += hashOf(uint64(int64(workchain)), digest([]byte(account)), balance)
}

// locateBalance finds the first account whose row is missing or wrong.
func (v *verifier) locateBalance(ctx context.Context, ofAccounts, ofRanking string) error {
	var workchain int32
	var account string
	var rows, balances uint64
	return v.each(ctx, `SELECT workchain, account, count(), uniqExact(balance) FROM (
			SELECT workchain, account, balance FROM (`+ofAccounts+`) UNION ALL SELECT workchain, account, balance FROM (`+ofRanking+`))
		GROUP BY workchain, account HAVING count() != 2 OR uniqExact(balance) != 1 ORDER BY workchain, account LIMIT 1`, nil,
		[]any{&workchain, &account, &rows, &balances}, func() error {
			v.findings.differs(CheckLatest, "accounts_by_balance", accountKey(workchain, account),
				"it and table accounts have %d rows with %d balances, instead of one each, alike", rows, balances)
			return nil
		})
}

// checkCodes tests that every code is what its hash says.
func (v *verifier) checkCodes(ctx context.Context) error {
	if !v.findings.wants(CheckLatest) {
		return nil
	}
	var hash string
	var boc []byte
	var methods []uint32
	var known bool
	var rows uint64
	err := v.each(ctx, "SELECT hash, boc, methods, methods_known FROM codes", nil, []any{&hash, &boc, &methods, &known}, func() error {
		rows++
		differs := func(format string, args ...any) {
			v.findings.differs(CheckLatest, "codes", "hash = unhex('"+hex.EncodeToString([]byte(hash))+"')", format, args...)
		}
		if problem := wrongBoC(boc, []byte(hash)); problem != "" || len(boc) == 0 {
			differs("boc: %s", problem)
			return nil
		}
		want, err := decode.MethodsOf(boc)
		if err != nil {
			return err
		}
		if want.Known != known || fmt.Sprint(want.IDs) != fmt.Sprint(methods) {
			differs("methods are %v, the code has %v", methods, want.IDs)
		}
		return nil
	})
	v.findings.checked(CheckLatest, rows)
	return err
}
