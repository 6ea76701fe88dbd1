package verify

import (
	"context"

	"google.golang.org/protobuf/proto"
)

// columns names the first column of a row that differs from what its record
// makes.
func (v *verifier) columns(ctx context.Context, t *table, where string, i *item) error {
	if v.findings.again(CheckColumns, t.name) {
		return nil
	}
	want := t.row(i)
	return v.words(ctx, t, "WHERE "+where, nil, func(row []uint64) error {
		if name, have, want := t.firstColumn(row, want); name != "" {
			v.findings.differs(CheckColumns, t.name, where, "column %s is %s, the record says %s", name, have, want)
		}
		return nil
	})
}

// unlike says in what two rows with one key differ.
func (v *verifier) unlike(ctx context.Context, t *table, where string, a, b proto.Message) error {
	if v.findings.again(CheckColumns, t.name) {
		return nil
	}
	if a.ProtoReflect().IsValid() && b.ProtoReflect().IsValid() {
		if path, x, y := firstField(a, b); path != "" {
			v.findings.differs(CheckColumns, t.name, where, "two different rows: field %s of the record is %s and %s", path, x, y)
			return nil
		}
	}
	var first []uint64
	err := v.words(ctx, t, "WHERE "+where, nil, func(row []uint64) error {
		if first == nil {
			first = append(first, row...)
			return nil
		}
		if name, x, y := t.firstColumn(first, row); name != "" {
			v.findings.differs(CheckColumns, t.name, where, "two different rows: column %s is %s and %s", name, x, y)
		}
		return nil
	})
	if err == nil && !v.findings.again(CheckColumns, t.name) {
		v.findings.differs(CheckColumns, t.name, where, "two rows whose records are not the same bytes")
	}
	return err
}
