package stored_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"tonscribe/bench/synthetic"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
)

func hashOf(n byte) []byte { return bytes.Repeat([]byte{n}, 32) }

func addressOf(workchain int32, n byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(workchain)), hashOf(n)...)
}

func bytesDetail(name string, b []byte) *record.ActionDetail {
	return &record.ActionDetail{Name: name, Value: &record.ActionDetail_Bytes{Bytes: b}}
}

// packAction checks that an action comes back as it was, and that statements find its
// columns; it returns the stored form.
func packAction(t *testing.T, a *record.Action, traceEndLt uint64, parties stored.Parties) []byte {
	t.Helper()
	was := a.CloneVT()
	form, err := stored.PackAction([]byte("before"), a, traceEndLt, parties)
	if err != nil {
		t.Fatalf("action %x: %v", a.Id, err)
	}
	form, ok := bytes.CutPrefix(form, []byte("before"))
	if !ok || !a.EqualVT(was) {
		t.Fatalf("action %x: what was there before is not, or the action has become\n%v", a.Id, a)
	}
	for i, want := range [][]byte{a.Id[4:], parties[0], parties[1], parties[2]} {
		if at := [][2]int{{0, 28}, {28, 60}, {60, 92}, {92, 124}}[i]; !bytes.Equal(form[at[0]:at[1]], want) {
			t.Fatalf("action %x: bytes %v are %x, want %x", a.Id, at, form[at[0]:at[1]], want)
		}
	}
	number := binary.LittleEndian
	if late, took, seconds := number.Uint64(form[124:]), number.Uint64(form[132:]), number.Uint32(form[140:]); late != traceEndLt-a.EndLt || took != a.EndLt-a.StartLt || seconds != a.EndUtime-a.StartUtime {
		t.Fatalf("action %x from %d to %d of a trace to %d: its form says %d, %d and %d s", a.Id, a.StartLt, a.EndLt, traceEndLt, late, took, seconds)
	}
	back, columns := new(record.Action), actionColumns(a, traceEndLt, form)
	if err := stored.UnpackAction(back, columns); err != nil {
		t.Fatalf("action %x: %v", a.Id, err)
	}
	clear(columns) // whoever reads uses its memory again
	if !back.EqualVT(was) {
		t.Fatalf("action %x came back as\n%v\nand was\n%v", a.Id, back, was)
	}
	return form
}

// actionColumns is what stored.ActionSQL gives for a row.
func actionColumns(a *record.Action, traceEndLt uint64, form []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, schema.ShortPrefix(a.Id))
	b = binary.LittleEndian.AppendUint64(b, traceEndLt)
	return append(binary.LittleEndian.AppendUint32(b, a.EndUtime), form...)
}

var (
	noParties = stored.Parties{hashOf(0), hashOf(0), hashOf(0)}
	swap      = &record.Action{
		Id: hashOf(1), Type: "jetton_swap", Success: true, StartLt: 1001, EndLt: 1007, StartUtime: 1700, EndUtime: 1703,
		Transactions: [][]byte{hashOf(2), hashOf(3)}, Accounts: [][]byte{addressOf(0, 4), addressOf(-1, 5), addressOf(0, 6)},
		Parent: hashOf(7), Ancestors: []string{"multisig_execute"}, Since: 1, Until: 255, Details: []*record.ActionDetail{
			bytesDetail("sender", addressOf(0, 4)), bytesDetail("amount", []byte{1, 0}), bytesDetail("pool", addressOf(-1, 8)),
			{Name: "dex", Value: &record.ActionDetail_Text{Text: "dedust"}}, {Name: "nothing"},
			{Name: "incoming", Value: &record.ActionDetail_Object{Object: &record.ActionObject{Details: []*record.ActionDetail{bytesDetail("asset", addressOf(0, 9))}}}},
			{Name: "peers", Value: &record.ActionDetail_List{List: &record.ActionList{
				Objects:   []*record.ActionObject{{Details: []*record.ActionDetail{bytesDetail("asset", addressOf(0, 9))}}, {}},
				Addresses: [][]byte{addressOf(0, 4)}, Currencies: []*record.ExtraCurrency{{Id: 5, Amount: []byte{6}}}}}},
		},
	}
)

func TestActionsComeBackAsTheyWere(t *testing.T) {
	packAction(t, swap, 1009, stored.Parties{hashOf(4), hashOf(0), hashOf(6)})
	packAction(t, &record.Action{Id: hashOf(1)}, 0, noParties)
	odd := swap.CloneVT()
	odd.EndLt, odd.EndUtime = 900, 1600 // before they began, and behind the trace
	odd.Transactions = append(odd.Transactions, []byte{1, 2})
	odd.Accounts = append(odd.Accounts, addressOf(7, 4), nil)
	odd.Details = append(odd.Details, bytesDetail("far", addressOf(7, 4)), bytesDetail("nobody", addressOf(-1, 0)))
	packAction(t, odd, 800, stored.Parties{hashOf(4), hashOf(0), hashOf(6)})
	many := &record.Action{Id: hashOf(1)}
	for i := range 300 {
		many.Accounts = append(many.Accounts, append(binary.BigEndian.AppendUint32(make([]byte, 4), uint32(i)), hashOf(9)[:28]...))
		many.Details = append(many.Details, bytesDetail(fmt.Sprint(i), many.Accounts[i]))
	}
	packAction(t, many, 0, noParties)
}

func TestTheSameAccountIsStoredOnce(t *testing.T) {
	form := packAction(t, swap, 1009, stored.Parties{hashOf(4), hashOf(0), hashOf(6)})
	for n := byte(1); n <= 9; n++ {
		want := 1
		if n == 1 {
			want = 0 // the first bytes of the id stand in a column
		}
		if n == 4 {
			want = 2 // lists keep theirs
		}
		if have := bytes.Count(form, hashOf(n)); have != want {
			t.Errorf("%d bytes %d stand %d times in %x, want %d", 32, n, have, form, want)
		}
	}
}

// packTrace checks that a trace comes back as it was, in the row of an id.
func packTrace(t *testing.T, trace *record.Trace, id []byte) {
	t.Helper()
	form, err := stored.PackTrace([]byte("before"), trace, id)
	if err != nil {
		t.Fatalf("trace %x: %v", trace.Id, err)
	}
	form, ok := bytes.CutPrefix(form, []byte("before"))
	if !ok {
		t.Fatalf("trace %x: what was there before is not", trace.Id)
	}
	columns := binary.LittleEndian.AppendUint64(nil, schema.Prefix(id))
	columns = append(binary.LittleEndian.AppendUint64(columns, schema.Prefix(id[8:])), form...)
	back := new(record.Trace)
	prefix, err := stored.UnpackTrace(back, columns)
	if err != nil || prefix != schema.Prefix(id) {
		t.Fatalf("trace %x in the row of %x: prefix %x, %v", trace.Id, id, prefix, err)
	}
	clear(columns)
	if !back.EqualVT(trace) {
		t.Fatalf("trace %x came back as\n%v\nand was\n%v", trace.Id, back, trace)
	}
}

func TestTracesComeBackAsTheyWere(t *testing.T) {
	whole := &record.Trace{
		Id: hashOf(1), ExternalHash: hashOf(2), ExternalHashNorm: hashOf(3), McSeqnoStart: 70, McSeqnoEnd: 72, StartLt: 1001, EndLt: 1009, StartUtime: 1700, EndUtime: 1709,
		State: record.TraceState_TRACE_BROKEN, Nodes: 3, Edges: 4, PendingEdges: 2, Replaces: [][]byte{hashOf(4), hashOf(5)}, Unclassified: true,
	}
	packTrace(t, whole, whole.Id)
	packTrace(t, whole, hashOf(4))
	packTrace(t, &record.Trace{Id: hashOf(1)}, hashOf(1))
}

func TestWhatNamesATraceComesBackAsItWas(t *testing.T) {
	for _, want := range []*record.Trace{{Id: hashOf(1), ExternalHash: hashOf(2)}, {Id: hashOf(1)}} {
		rest := stored.PackTraceRest(want)
		if have, err := stored.UnpackTraceRest(schema.Prefix(want.Id), rest); err != nil || !have.EqualVT(want) {
			t.Errorf("it is %v (%v), want %v", have, err, want)
		}
		if have, err := stored.UnpackTraceRest(schema.Prefix(want.Id), rest[1:]); err == nil {
			t.Errorf("%d bytes are taken for %v", len(rest)-1, have)
		}
	}
	if have, err := stored.UnpackTraceRest(1, nil); have != nil || err != nil {
		t.Errorf("a row that tells nothing has %v (%v)", have, err)
	}
}

func TestGeneratedTracesAndActionsComeBackAsTheyWere(t *testing.T) {
	rows, actions := synthetic.NewRows(synthetic.RowOptions{Transactions: 3000, Seed: 3}), 0
	made := synthetic.NewTraces()
	for b := rows.Next(); b != nil; b = rows.Next() {
		for _, r := range made.Records(b, 1)[0] {
			for _, step := range r.GetTraces().GetTraces() {
				packTrace(t, step.Trace, step.Trace.Id)
				for _, a := range step.Actions {
					actions++
					packAction(t, a, step.Trace.EndLt, noParties)
				}
			}
		}
	}
	if actions < 1000 {
		t.Fatalf("%d actions were made, want some to look at", actions)
	}
}

func TestWhatIsNoStoredFormIsRefused(t *testing.T) {
	form := packAction(t, swap, 1009, noParties)
	columns := actionColumns(swap, 1009, form)
	for n := range columns {
		// What ends in the protobuf Action may be another one.
		if err := stored.UnpackAction(new(record.Action), columns[:n]); err == nil && n < 16+144+2*32+5*32 {
			t.Errorf("%d bytes of %d are taken", n, len(columns))
		}
	}
	if err := stored.UnpackAction(new(record.Action), append(bytes.Clone(columns), 0x78, 200, 1)); err == nil {
		t.Error("an account that is not there is taken")
	}
	trace, err := stored.PackTrace(nil, &record.Trace{Id: hashOf(1)}, hashOf(1))
	if err != nil {
		t.Fatal(err)
	}
	for n := range trace {
		if _, err := stored.UnpackTrace(new(record.Trace), append(make([]byte, 16), trace[:n]...)); err == nil {
			t.Errorf("%d bytes of %d are taken", n, len(trace))
		}
	}
	for _, a := range []*record.Action{{}, {Id: []byte{1}}} {
		if _, err := stored.PackAction(nil, a, 0, noParties); err == nil {
			t.Errorf("an action with the id %x is packed", a.Id)
		}
	}
	if _, err := stored.PackTrace(nil, &record.Trace{Id: hashOf(1), ExternalHash: []byte{1}}, hashOf(1)); err == nil {
		t.Error("a trace of a message with a short hash is packed")
	}
}
