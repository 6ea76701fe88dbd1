package store

import (
	"context"
	"strconv"
	"time"

	"tonscribe/internal/clickhouse"
)

// Entry says that something was done in the name of a merchant.
type Entry struct {
	Merchant ID
	At       time.Time
	What     string // a word: key_made, secret_revealed …
	Who      string // a key, a session or the operator
	Detail   string // never a secret
}

// ByOperator is who has done it by `tonscribe merchants`.
const ByOperator = "operator"

// Audit is the table of entries.
type Audit struct{ *Store }

// Put writes an entry.
func (a *Audit) Put(ctx context.Context, e Entry) error {
	return a.insert(ctx, "merchant_audit",
		clickhouse.Column{Name: "merchant", Values: [][]byte{e.Merchant[:]}},
		clickhouse.Column{Name: "at", Values: []time.Time{a.now()}},
		clickhouse.Column{Name: "what", Values: []string{e.What}},
		clickhouse.Column{Name: "who", Values: []string{e.Who}},
		clickhouse.Column{Name: "detail", Values: []string{e.Detail}},
		clickhouse.Column{Name: "changed", Values: []uint64{a.after(0)}},
	)
}

// List is the entries of a merchant before a moment, the newest first; a zero moment is
// the end of time.
func (a *Audit) List(ctx context.Context, merchant ID, before time.Time, limit int) (list []Entry, err error) {
	where := "merchant = " + unhex(merchant[:])
	if !before.IsZero() {
		where += " AND at < fromUnixTimestamp64Micro(" + strconv.FormatInt(before.UnixMicro(), 10) + ")"
	}
	row := Entry{Merchant: merchant}
	err = a.each(ctx, "SELECT at, what, who, detail FROM merchant_audit WHERE "+where+
		" ORDER BY at DESC, what, who LIMIT 1 BY at, what, who LIMIT "+strconv.Itoa(limit), func() { list = append(list, row) }, &row.At, &row.What, &row.Who, &row.Detail)
	return list, err
}
