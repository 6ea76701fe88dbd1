package head

import (
	"context"
	"fmt"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
)

// TracedKey is the key of a row of transaction_traces.
type TracedKey struct {
	Account  sql.AccountKey
	Rest, Lt uint64
}

// TracedKeyOf returns the key of the row of a transaction, by its address and lt.
func TracedKeyOf(account []byte, lt uint64) TracedKey {
	return TracedKey{sql.KeyOf(account), schema.Rest(schema.AccountID(account)), lt}
}

// Traced is a row of transaction_traces.
type Traced struct {
	TracedKey
	// McSeqno is the bundle with which it became known, Prefix the beginning of the id
	// of the trace.
	McSeqno uint32
	Prefix  uint64
	// Trace has the id of the trace and the hash of what began it; it is nil where the
	// row does not tell them.
	Trace *record.Trace
}

// ReadTraced reads the rows of transaction_traces that a condition holds for.
func ReadTraced(ctx context.Context, r *reader.Reader, reads, where string) ([]Traced, error) {
	var list []Traced
	var workchain proto.ColInt32
	var account, rest, lt, prefix proto.ColUInt64
	var mcSeqno proto.ColUInt32
	var traceRest proto.ColStr
	result := proto.Results{
		{Name: "workchain", Data: &workchain}, {Name: "account_prefix", Data: &account}, {Name: "account_rest", Data: &rest}, {Name: "lt", Data: &lt},
		{Name: "mc_seqno", Data: &mcSeqno}, {Name: "trace_prefix", Data: &prefix}, {Name: "trace_rest", Data: &traceRest},
	}
	statement := "SELECT workchain, account_prefix, account_rest, lt, mc_seqno, trace_prefix, trace_rest FROM transaction_traces WHERE " + where + " SETTINGS " + sql.NoProjections
	err := r.Run(ctx, reads, statement, result, func(rows int) error {
		for i := range rows {
			row := Traced{TracedKey{sql.AccountKey{Workchain: workchain[i], Prefix: account[i]}, rest[i], lt[i]}, mcSeqno[i], prefix[i], nil}
			var err error
			if row.Trace, err = stored.UnpackTraceRest(prefix[i], traceRest.RowBytes(i)); err != nil {
				return fmt.Errorf("row of transaction_traces: %w", err)
			}
			list = append(list, row)
		}
		return nil
	})
	return list, err
}

// traces reads the traces of the transactions that rows of transactions_index lead to:
// those that will always be theirs.
func (f *Filler) traces(ctx context.Context, c sql.Conditions) (map[TracedKey]*record.Trace, error) {
	rows, err := ReadTraced(ctx, f.reader, "head", "(workchain, account_prefix, lt) IN (SELECT workchain, account_prefix, lt FROM "+sql.Beside("transactions_index")+" WHERE "+c.String()+")")
	traces, shared := make(map[TracedKey]*record.Trace, len(rows)), map[string]*record.Trace{}
	for _, r := range rows {
		if r.Trace == nil {
			continue
		}
		if shared[string(r.Trace.Id)] == nil {
			shared[string(r.Trace.Id)] = r.Trace
		}
		traces[r.TracedKey] = shared[string(r.Trace.Id)]
	}
	return traces, err
}
