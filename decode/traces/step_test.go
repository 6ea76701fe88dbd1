package traces_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/trace"
	"tonscribe/decode/traces"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// comment is the body of a comment with a text.
func comment(text []byte) []byte {
	const cellBytes = 120
	var next *cell.Cell
	for len(text) > cellBytes {
		at := (len(text) - 1) / cellBytes * cellBytes
		b := cell.BeginCell().MustStoreSlice(text[at:], uint(8*(len(text)-at)))
		if next != nil {
			b.MustStoreRef(next)
		}
		next, text = b.EndCell(), text[:at]
	}
	b := cell.BeginCell().MustStoreUInt(0, 32).MustStoreSlice(text, uint(8*len(text)))
	if next != nil {
		b.MustStoreRef(next)
	}
	return b.EndCell().ToBOC()
}

// fanOut is a trace in which an account sends messages with a body each.
func fanOut(bodies ...[]byte) *trace.Assembled {
	hash := func(kind byte, n int) []byte {
		h := make([]byte, 32)
		h[0], h[1], h[2], h[3] = kind, byte(n>>16), byte(n>>8), byte(n)
		return h
	}
	root := &record.Transaction{Account: made36(1), Hash: hash(1, 0), Lt: 1, InMsg: &record.Message{Kind: record.Message_EXTERNAL_IN, Hash: hash(2, 0), Destination: made36(1)}}
	all := []*record.Transaction{root}
	for i, body := range bodies {
		m := &record.Message{Hash: hash(3, i), Source: root.Account, Destination: made36(byte(2 + i%200)), Value: 1, CreatedLt: uint64(2 + i), Opcode: new(uint32), Body: body}
		root.OutMsgs = append(root.OutMsgs, m)
		all = append(all, &record.Transaction{Account: m.Destination, Hash: hash(4, i), Lt: uint64(10_000 + i), InMsg: m})
	}
	return &trace.Assembled{Trace: &record.Trace{Id: root.Hash, Nodes: uint32(len(all))}, New: all, All: all}
}

// Comments of strangers may be long, and many in one trace: what it was goes into one
// record, which the log takes only up to a size.
func TestWhatATraceWasFitsIntoARecordHoweverLongItsTextsAre(t *testing.T) {
	long := comment(bytes.Repeat([]byte{0xff}, 60_000))
	bodies := [][]byte{comment([]byte("short"))}
	for range 200 {
		bodies = append(bodies, long)
	}
	a := fanOut(bodies...)
	step, failed, err := traces.Step(a, facts{})
	if failed != nil || err != nil {
		t.Fatal(failed, err)
	}
	if size := step.SizeVT(); size > schema.Traces.MaxMessageBytes*3/4 {
		t.Errorf("the step has %d bytes, the log takes records of %d", size, schema.Traces.MaxMessageBytes)
	}
	if len(step.Actions) != len(bodies) {
		t.Errorf("%d actions of %d messages", len(step.Actions), len(bodies))
	}
	texts := 0
	for _, a := range step.Actions {
		for _, d := range a.Details {
			if d.Name == "comment" {
				texts++
			}
		}
	}
	if texts != 1 {
		t.Errorf("%d comments are kept, one is short", texts)
	}
}

func TestATraceOfTooManyBytesIsInTheListsOfAllOfItsAccounts(t *testing.T) {
	tx := &record.Transaction{Account: made36(2), Hash: bytes.Repeat([]byte{1}, 32), Lt: 5}
	earlier := [][]byte{made36(3), made36(2), made36(1), made36(3)}
	step, failed, err := traces.Step(&trace.Assembled{Trace: &record.Trace{Id: tx.Hash, Nodes: 5}, New: []*record.Transaction{tx}, Earlier: earlier}, facts{})
	if failed != nil || err != nil || len(step.Accounts) != 3 || !slices.IsSortedFunc(step.Accounts, bytes.Compare) {
		t.Errorf("it is in the lists of %x, want those of 3 accounts; %v, %v", step.GetAccounts(), failed, err)
	}
}
