package head

import (
	"context"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
)

// traced is the key of a row of transaction_traces.
type traced struct {
	account  sql.AccountKey
	rest, lt uint64
}

func tracedOf(tx *record.Transaction) traced {
	return traced{sql.KeyOf(tx.Account), schema.Rest(schema.AccountID(tx.Account)), tx.Lt}
}

// traces reads the traces of the transactions that rows of transactions_index lead to:
// those that will always be theirs. A broken one may turn out to be a part of another.
func (f *Filler) traces(ctx context.Context, c sql.Conditions) (map[traced]*record.Trace, error) {
	prefixes := map[traced]uint64{}
	var workchain proto.ColInt32
	var account, rest, lt, trace proto.ColUInt64
	result := proto.Results{
		{Name: "workchain", Data: &workchain}, {Name: "account_prefix", Data: &account}, {Name: "account_rest", Data: &rest},
		{Name: "lt", Data: &lt}, {Name: "trace_prefix", Data: &trace},
	}
	of := "SELECT workchain, account_prefix, lt FROM transactions_index WHERE " + c.String()
	statement := "SELECT workchain, account_prefix, account_rest, lt, trace_prefix FROM transaction_traces WHERE (workchain, account_prefix, lt) IN (" + of + ") SETTINGS " + sql.NoProjections
	wanted := map[uint64]bool{}
	err := f.reader.Run(ctx, "head", statement, result, func(rows int) error {
		for i := range rows {
			prefixes[traced{sql.AccountKey{Workchain: workchain[i], Prefix: account[i]}, rest[i], lt[i]}] = trace[i]
			wanted[trace[i]] = true
		}
		return nil
	})
	if err != nil || len(wanted) == 0 {
		return nil, err
	}
	byPrefix, broken := map[uint64]*record.Trace{}, map[uint64]bool{}
	list := make([]uint64, 0, len(wanted))
	for p := range wanted {
		list = append(list, p)
	}
	_, err = reader.Records(ctx, f.reader, "head", "SELECT "+stored.TraceSQL+" AS record FROM traces WHERE "+sql.Any("trace_prefix", list).String(), func(raw []byte) (struct{}, error) {
		t := new(record.Trace)
		p, err := stored.UnpackTrace(t, raw)
		if err != nil {
			return struct{}{}, err
		}
		have := byPrefix[p]
		if t.State == record.TraceState_TRACE_BROKEN || schema.Prefix(t.Id) != p || have != nil && string(have.Id) != string(t.Id) {
			broken[p] = true
		}
		byPrefix[p] = &record.Trace{Id: t.Id, ExternalHash: t.ExternalHash}
		return struct{}{}, nil
	})
	if err != nil {
		return nil, err
	}
	traces := make(map[traced]*record.Trace, len(prefixes))
	for k, p := range prefixes {
		if !broken[p] {
			traces[k] = byPrefix[p]
		}
	}
	return traces, nil
}
