package verify

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"tonscribe/decode"
	"tonscribe/internal/lifetime"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
	tcell "tonscribe/ton/cell"
)

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
	if code := t.StateAfter.GetCodeHash(); t.OrigStatus != record.AccountStatus_ACCOUNT_ACTIVE && bringsCode(t.InMsg.GetInitState(), code) {
		w.deployed[r.account] = string(code)
	}
}

// bringsCode reports whether a message's state has a code that can be told.
func bringsCode(init, code []byte) bool {
	if len(init) == 0 || len(init) > decode.MaxCodeBytes || len(code) != 32 {
		return false
	}
	bag, err := tcell.Parse(init)
	if err != nil {
		return false
	}
	root, err := bag.Single()
	if err != nil {
		return false
	}
	for n := range root.Refs() {
		if bytes.Equal(root.Ref(n).Hash()[:], code) {
			return true
		}
	}
	return false
}

// checkLatest compares the table accounts with what the last transactions of the
// accounts of a slice left.
func (w *transactionWalk) checkLatest(ctx context.Context, part *slice) error {
	if !w.findings.wants(CheckLatest) && !w.findings.wants(CheckContracts) {
		return nil
	}
	var rows uint64
	where, args := ofSlice(part)
	err := w.eachNewest(ctx, "", &table.Accounts.Table, where, args, func(stored *storedRow) error {
		r := newAccountRow(stored)
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
	differs := w.findings.of(CheckLatest, "accounts", r.key)
	a := r.record
	if a == nil {
		differs("record is no complete account")
		return nil
	}
	if table.Accounts.Hash(r.made) != r.columns {
		return w.column(ctx, CheckColumns, &table.Accounts.Table, r.key(), fmt.Sprintf(" AND version = %d", r.newest), table.Accounts.Words(r.made), "the record")
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
	if code := w.deployed[r.account]; code != "" && code == string(a.State.CodeHash) && len(a.Data) > 0 {
		w.wantCode(code, r)
	}
	return nil
}

// maxDeployed is how many codes are remembered until table codes is read, in 200 bytes
// each: anybody deploys as many as he pays for.
const maxDeployed = 1 << 20

// wantCode notes that table codes must have a code: a block showed all of it, with the
// message that deployed an account, and decoding followed the account's state.
func (v *verifier) wantCode(code string, r *accountRow) {
	v.deployedMu.Lock()
	defer v.deployedMu.Unlock()
	if _, has := v.deployedCodes[code]; !has && len(v.deployedCodes) < maxDeployed {
		v.deployedCodes[code] = r.key()
	}
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
	*storedRow
	record *record.Account // nil when raw is no such record
	made   *table.Account  // that the record makes
}

func newAccountRow(stored *storedRow) *accountRow {
	r := &accountRow{storedRow: stored, record: new(record.Account)}
	err := r.record.UnmarshalVT(r.raw)
	if err == nil {
		r.made, err = table.NewAccount(r.record, r.raw, r.newest&1 == 1)
	}
	if err != nil {
		r.record = nil
	}
	return r
}

func (r *accountRow) key() string { return accountKey(r.workchain, r.account) }

func accountKey(workchain int32, account string) string {
	return fmt.Sprintf("workchain = %d AND account_prefix = 0x%x AND account = unhex('%x')", workchain, account[:8], account)
}

// balancePause is from one look at the ranking of balances to the next.
const balancePause = 200 * time.Millisecond

const (
	ofAccounts = `SELECT workchain, account_prefix, account, version, balance, false AS gone FROM accounts FINAL WHERE status != 'nonexist'`
	ofRanking  = `SELECT workchain, account_prefix, account, version, balance, gone FROM accounts_by_balance FINAL WHERE gone = 0`
)

// checkBalances compares the ranking of balances with the accounts: every one is
// there once, with the balance of its newest state, whatever was skipped before
// that. Where the index goes on meanwhile, an account may be in one of the two tables
// and not yet in the other: it is wrong when it stays so until patience ends.
func (v *verifier) checkBalances(ctx context.Context) error {
	if alike, err := v.awaitRanking(ctx); err != nil || alike {
		return err
	}
	left, err := v.unranked(ctx)
	if err != nil {
		return err
	}
	if alike, err := v.awaitRanking(ctx); err != nil || alike {
		return err
	}
	found, err := v.unranked(ctx)
	if err != nil {
		return err
	}
	maps.DeleteFunc(left, func(key string, u unranked) bool { return found[key] != u })
	for _, key := range slices.Sorted(maps.Keys(left)) {
		v.findings.differs(CheckLatest, table.AccountsByBalance.Name, key,
			"it and table accounts have %d rows with %d balances, instead of one each, alike", left[key].rows, left[key].balances)
	}
	return nil
}

// awaitRanking looks until the ranking and the accounts are alike as a whole, which costs
// little, or patience ends.
func (v *verifier) awaitRanking(ctx context.Context) (alike bool, err error) {
	sums := fmt.Sprintf("count(), sum(%s)", table.AccountsByBalance.HashSQL())
	statement := fmt.Sprintf("SELECT * FROM (SELECT %s FROM (%s)) AS a, (SELECT %s FROM (%s)) AS b", sums, ofAccounts, sums, ofRanking)
	for deadline := time.Now().Add(v.patience); ; {
		var want, have cell
		if err := v.one(ctx, statement, nil, &want.rows, &want.sum, &have.rows, &have.sum); err != nil || want == have {
			return err == nil, err
		}
		if time.Now().After(deadline) {
			return false, nil
		}
		if err := lifetime.Sleep(ctx, balancePause); err != nil {
			return false, err
		}
	}
}

// unranked is an account whose row in the ranking is missing or wrong.
type unranked struct {
	rows, balances uint64
	versions       string
}

// unranked finds such accounts, fewRows at most.
func (v *verifier) unranked(ctx context.Context) (map[string]unranked, error) {
	found := map[string]unranked{}
	var workchain int32
	var account string
	var u unranked
	err := v.each(ctx, fmt.Sprintf(`SELECT workchain, account, count(), uniqExact(balance), toString(arraySort(groupArray((version, balance)))) FROM (%s UNION ALL %s)
		GROUP BY workchain, account HAVING count() != 2 OR uniqExact(balance, version, account_prefix) != 1 ORDER BY workchain, account LIMIT %d`, ofAccounts, ofRanking, fewRows), nil,
		[]any{&workchain, &account, &u.rows, &u.balances, &u.versions}, func() error {
			found[accountKey(workchain, account)] = u
			return nil
		})
	return found, err
}

// checkCodes tests that every code is what its hash says, and that none is missing of
// those that messages brought.
func (v *verifier) checkCodes(ctx context.Context) error {
	var hash string
	var boc []byte
	var methods []uint32
	var known bool
	var rows uint64
	err := v.each(ctx, "SELECT hash, boc, methods, methods_known FROM codes", nil, []any{&hash, &boc, &methods, &known}, func() error {
		rows++
		delete(v.deployedCodes, hash)
		differs := v.findings.of(CheckLatest, "codes", func() string { return linkKey(hash) })
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
	if err != nil {
		return err
	}
	for _, hash := range slices.Sorted(maps.Keys(v.deployedCodes)) {
		v.findings.differs(CheckLatest, "codes", linkKey(hash), "no row, but the account where %s was deployed with it", v.deployedCodes[hash])
	}
	return nil
}
