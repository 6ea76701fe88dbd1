package traces

import (
	"encoding/binary"
	"testing"

	"tonscribe/decode/trace"
	"tonscribe/internal/report"
	"tonscribe/internal/stage"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// All shards of a busy network may work for one trace.
func TestTheLogTakesWhatABundleDidToATraceHoweverMuchThatIs(t *testing.T) {
	const bundle = 200_000
	numbered := func(kind byte, n int) []byte {
		h := make([]byte, 32)
		h[0] = kind
		binary.BigEndian.PutUint32(h[1:], uint32(n))
		return h
	}
	var list []*record.Transaction
	in := &record.Message{Kind: record.Message_EXTERNAL_IN, Hash: numbered(1, 0)}
	for n := range bundle {
		tx := &record.Transaction{Account: append(make([]byte, 4), numbered(2, n)...), Hash: numbered(3, n), Lt: 1<<60 + uint64(n), McSeqno: 7, InMsg: in}
		if n < bundle-1 {
			in = &record.Message{Hash: numbered(1, n+1)}
			tx.OutMsgs = []*record.Message{in}
		}
		list = append(list, tx)
	}
	for _, first := range []int{bundle, bundle - 1} { // the last one may come with a bundle of its own
		store := &trace.Memory{}
		w := &work{partitions: 1, chunk: 1 << 20, assembler: trace.NewAssembler(store), contracts: contracts{store}, metrics: newMetrics(report.Silent())}
		transactions, accounts := map[string]bool{}, map[string]bool{}
		for i, some := range [][]*record.Transaction{list[:first], list[first:]} {
			out, err := w.Bundle(t.Context(), &stage.Bundle{McSeqno: uint32(7 + i), Seal: &record.Seal{}, Records: []*record.Record{{
				Content: &record.Record_Transactions{Transactions: &record.TransactionBatch{Transactions: some}}}}})
			if err != nil {
				t.Fatal(err)
			}
			steps := 0
			for _, r := range out.Records[0] {
				if size := r.SizeVT(); size > schema.Traces.MaxMessageBytes/2 {
					t.Errorf("a record has %d bytes, the log takes %d", size, schema.Traces.MaxMessageBytes)
				}
				for _, s := range r.GetTraces().GetTraces() {
					steps++
					if closed := i > 0 || first == bundle; closed != (s.Trace.Nodes == bundle && s.Trace.State == record.TraceState_TRACE_COMPLETE) {
						t.Errorf("the trace is told as %v", s.Trace)
					}
					for _, tx := range s.Transactions {
						transactions[string(tx.Hash)] = true
					}
					for _, a := range s.Accounts {
						accounts[string(a)] = true
					}
				}
			}
			if sealed := out.Records[0][len(out.Records[0])-1].GetSeal().GetRows(); sealed != uint64(steps) {
				t.Errorf("the seal counts %d rows, want %d", sealed, steps)
			}
		}
		if len(transactions) != bundle || len(accounts) != bundle {
			t.Errorf("%d transactions and %d accounts are told, want %d", len(transactions), len(accounts), bundle)
		}
	}
}
