package verify

import (
	"context"

	"google.golang.org/protobuf/proto"

	"tonscribe/schema/table"
)

// column names the first column in which a row that clause finds differs from
// what its record makes.
func (v *verifier) column(ctx context.Context, check string, t *table.Table, where, clause string, want []uint64, says string) error {
	if v.findings.again(check, t.Name) {
		return nil
	}
	named, final := false, ""
	if t.Revised() {
		final = "FINAL " // the newest row is that of the greatest revision
	}
	err := v.words(ctx, t, final+"WHERE "+where+clause, nil, func(row []uint64) error {
		if name, have, want := t.Difference(row, want); name != "" {
			named = true
			v.findings.differs(check, t.Name, where, "column %s is %s, %s says %s", name, have, says, want)
		}
		return nil
	})
	if err == nil && !named {
		v.findings.differs(check, t.Name, where, "no such row, but %s makes one", says)
	}
	return err
}

// newestRow makes a clause find the newest row of a key only.
const newestRow = " ORDER BY mc_seqno DESC LIMIT 1"

// unlike names in what two rows with one key differ.
func (v *verifier) unlike(ctx context.Context, t *table.Table, where string, a, b proto.Message) error {
	if v.findings.again(CheckColumns, t.Name) {
		return nil
	}
	if a.ProtoReflect().IsValid() && b.ProtoReflect().IsValid() {
		if path, x, y := firstField(a, b); path != "" {
			v.findings.differs(CheckColumns, t.Name, where, "two different rows: field %s of the record is %s and %s", path, x, y)
			return nil
		}
	}
	err := v.twoRows(ctx, t, "WHERE "+where)
	if err == nil && !v.findings.again(CheckColumns, t.Name) {
		v.findings.differs(CheckColumns, t.Name, where, "two rows whose records are not the same bytes")
	}
	return err
}

// twoRows names in what the first of the rows that a clause finds and another one
// differ.
func (v *verifier) twoRows(ctx context.Context, t *table.Table, clause string, args ...any) error {
	var first []uint64
	return v.words(ctx, t, clause, args, func(row []uint64) error {
		if first == nil {
			first = append(first, row...)
			return nil
		}
		if name, x, y := t.Difference(first, row); name != "" {
			v.findings.differs(CheckColumns, t.Name, t.Where(row), "two different rows: column %s is %s and %s", name, x, y)
		}
		return nil
	})
}
