package sink

import (
	"testing"

	"tonscribe/bench/synthetic"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// BenchmarkFeed is what it costs to make rows of decoded records, by topic.
func BenchmarkFeed(b *testing.B) {
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 5000, Seed: 11})
	tokens, traces := synthetic.NewTokens(rows), synthetic.NewTraces()
	topics := map[string][]*record.Record{}
	for rows.Made() < 5000 {
		bundle := rows.Next()
		h, t, a := bundle.Records(0, 1)
		for topic, records := range map[string][]*record.Record{
			schema.Headers.Name: h, schema.Transactions.Name: t, schema.Accounts.Name: a, schema.Contracts.Name: tokens.Records(bundle, 1)[0], schema.Traces.Name: traces.Records(bundle, 1)[0],
		} {
			topics[topic] = append(topics[topic], records...)
		}
	}
	for _, topic := range schema.TableTopics {
		b.Run(topic.Name, func(b *testing.B) {
			f := newFeed(b, DefaultConfiguration(), topic)
			var records []*record.Record
			var payloads [][]byte
			for _, r := range topics[topic.Name] {
				if r.GetSeal() != nil {
					continue
				}
				raw, err := r.MarshalVT()
				if err != nil {
					b.Fatal(err)
				}
				records, payloads = append(records, r), append(payloads, raw)
			}
			b.ReportAllocs()
			for b.Loop() {
				rows := 0
				for i, r := range records {
					n, err := f.Add(r, payloads[i])
					if err != nil {
						b.Fatal(err)
					}
					rows += n
				}
				for _, p := range f.Buffers() {
					if p.Rows() > 0 && len(insertOf(p, "").Columns) == 0 {
						b.Fatal("no columns")
					}
					p.Reset()
				}
				b.ReportMetric(float64(rows), "rows/op")
			}
		})
	}
}
