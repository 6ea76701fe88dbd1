package synthetic

import (
	"errors"

	"tonscribe/decode/action"
	assembly "tonscribe/decode/trace"
	"tonscribe/decode/traces"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Traces makes the records of the topic traces, as the stage makes them where it knows
// of no contract what it is.
type Traces struct{ assembler *assembly.Assembler }

// NewTraces begins with the first bundle. What is open is in memory.
func NewTraces() *Traces { return &Traces{assembly.NewAssembler(&assembly.Memory{})} }

// Records are what the bundle brings, by partition. It must be called once for each
// bundle, in order. It panics where the generator makes what is no chain.
func (t *Traces) Records(b *Bundle, partitions int) [][]*record.Record {
	assembled, err := t.assembler.Bundle(b.Seqno, b.Transactions)
	if err != nil {
		panic(err)
	}
	batches := make([]record.TraceBatch, partitions)
	for i := range assembled {
		step, failed, err := traces.Step(&assembled[i], action.NoFacts{})
		if failed != nil || err != nil {
			panic(errors.Join(failed, err))
		}
		batch := &batches[schema.PartitionOf(step.Trace.Id, partitions)]
		batch.Traces = append(batch.Traces, step)
	}
	out := make([][]*record.Record, partitions)
	for p := range batches {
		var records []*record.Record
		if len(batches[p].Traces) > 0 {
			records = append(records, &record.Record{Content: &record.Record_Traces{Traces: &batches[p]}})
		}
		out[p] = b.seal(records, len(batches[p].Traces))
	}
	return out
}
