package verify

import (
	"context"
	"fmt"
	"slices"

	"tonscribe/schema/table"
)

// storedRow is a row about an account.
type storedRow struct {
	workchain int32
	prefix    uint64
	account   string
	lt        uint64 // where it is in the key
	newest    uint64 // the bundle or the version that made it count
	columns   uint64 // hash of all but the record
	raw       []byte // the record, where the table has one
}

// bundle is the one with which the row became what it is.
func (r *storedRow) bundle() uint32 { return uint32(r.newest) }

// eachStored hands out the rows of a table in the order of keys, newest being the
// column of that name.
func (d *database) eachStored(ctx context.Context, t *table.Table, newest, where string, args []any, take func(storedRow) error) error {
	lt, raw := "toUInt64(0)", "''"
	if slices.Contains(t.Key, "lt") {
		lt = "lt"
	}
	if slices.ContainsFunc(t.Columns, func(c table.Column) bool { return c.Record }) {
		raw = "record"
	}
	query := fmt.Sprintf("SELECT workchain, account_prefix, account, %s, toUInt64(%s), %s, %s FROM %s WHERE %s ORDER BY %s %s",
		lt, newest, t.HashSQL(), raw, t.Name, where, t.KeySQL(), streaming)
	var r storedRow
	return d.each(ctx, query, args, []any{&r.workchain, &r.prefix, &r.account, &r.lt, &r.newest, &r.columns, &r.raw}, func() error { return take(r) })
}

// eachNewest hands out the newest row of every key, in the order of keys. Two
// rows of which neither is newer are a difference of the check, when there is one.
func (v *verifier) eachNewest(ctx context.Context, check string, t *table.Table, where string, args []any, take func(*storedRow) error) error {
	byAccount := slices.Contains(t.Key, "account")
	var last *storedRow
	err := v.eachStored(ctx, t, t.Newest, where, args, func(r storedRow) error {
		row, before := &r, last
		switch {
		case before == nil, before.lt != r.lt, before.prefix != r.prefix, before.workchain != r.workchain, byAccount && before.account != r.account:
			last = row
			if before == nil {
				return nil
			}
			return take(before)
		case check != "" && before.newest == r.newest && (before.columns != r.columns || string(before.raw) != string(r.raw)):
			v.findings.differs(check, t.Name, row.key(t), "two different rows of %s %d", t.Newest, r.newest)
		}
		if r.newest >= before.newest {
			last = row
		}
		return nil
	})
	if err != nil || last == nil {
		return err
	}
	return take(last)
}

// ofSlice is the condition, with its arguments, for the rows of a slice.
func ofSlice(part *slice) (where string, args []any) {
	return "workchain = ? AND account_prefix BETWEEN ? AND ?", []any{part.workchain, part.low, part.high}
}

// key finds the rows of the row's key.
func (r *storedRow) key(t *table.Table) string {
	if slices.Contains(t.Key, "lt") {
		return fmt.Sprintf("lt = %d AND workchain = %d AND account_prefix = 0x%x", r.lt, r.workchain, r.prefix)
	}
	return fmt.Sprintf("workchain = %d AND account_prefix = 0x%x AND account = unhex('%x')", r.workchain, r.prefix, r.account)
}
