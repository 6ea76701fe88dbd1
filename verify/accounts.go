package verify

import (
	"bytes"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// accountWalk follows the transactions of accounts, in the order of the table.
// Accounts whose ids begin with the same 64 bits come mixed.
type accountWalk struct {
	*verifier
	workchain int32
	prefix    uint64
	last      []accountTip
}

// accountTip is the last transaction of an account.
type accountTip struct {
	account     string
	transaction *record.Transaction
}

// take tests that a transaction follows the one before it of its account, and
// says whether it is the account's first one in its bundle.
func (w *accountWalk) take(r *transactionRow) (first bool) {
	t := r.record
	if r.workchain != w.workchain || r.prefix != w.prefix {
		w.workchain, w.prefix, w.last = r.workchain, r.prefix, w.last[:0]
	}
	for i := range w.last {
		if w.last[i].account == r.account {
			w.follows(r, w.last[i].transaction)
			first = w.last[i].transaction.McSeqno != t.McSeqno
			w.last[i].transaction = t
			return first
		}
	}
	w.last = append(w.last, accountTip{r.account, t})
	if t.PrevTransLt != 0 && w.covers(t) {
		w.missing(r)
	}
	return true
}

// covers reports whether the transaction before one must be in the tables.
func (w *accountWalk) covers(t *record.Transaction) bool {
	return w.coverage.has(schema.Workchain(t.Account), schema.Prefix(schema.AccountID(t.Account)), t.PrevTransLt)
}

// missing names a transaction that is not there.
func (w *accountWalk) missing(r *transactionRow) {
	w.findings.differs(CheckAccounts, "transactions", transactionKey(r.workchain, r.account, r.record.PrevTransLt),
		"no row, but the account's next transaction, of lt %d, names it: prev_trans_hash %x", r.lt, r.record.PrevTransHash)
}

func (w *accountWalk) follows(r *transactionRow, last *record.Transaction) {
	t := r.record
	differs := func(check, format string, args ...any) {
		w.findings.differs(check, "transactions", r.key(), format, args...)
	}
	switch {
	case t.PrevTransLt == last.Lt && bytes.Equal(t.PrevTransHash, last.Hash):
	case t.PrevTransLt == last.Lt:
		differs(CheckAccounts, "prev_trans_hash is %x, but the transaction of that lt (%d) has hash %x",
			t.PrevTransHash, last.Lt, last.Hash)
		return
	case t.PrevTransLt == 0 && last.EndStatus == record.AccountStatus_ACCOUNT_NONEXIST:
		// It was deleted and begins anew.
	case t.PrevTransLt < last.Lt:
		differs(CheckAccounts, "prev_trans_lt is %d, but the transaction before it in the table has lt %d, hash %x",
			t.PrevTransLt, last.Lt, last.Hash)
		return
	case w.covers(t):
		w.missing(r)
		return
	default:
		return // what lies between is in a gap
	}
	if !bytes.Equal(t.StateHashBefore, last.StateHashAfter) {
		differs(CheckStates, "state_hash_before is %x, but the transaction before it, of lt %d, has state_hash_after %x",
			t.StateHashBefore, last.Lt, last.StateHashAfter)
	} else if what := stateDifference(last.StateAfter, t.StateBefore); what != "" {
		differs(CheckStates, "the state after the transaction before it, of lt %d, and the state before it differ: %s", last.Lt, what)
	}
}
