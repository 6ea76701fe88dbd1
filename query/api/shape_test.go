package api

import (
	"encoding/json"
	"maps"
	"testing"

	"tonscribe/query/openapi"
	"tonscribe/ton/address"
)

type row struct {
	lt      uint64
	kind    int32
	owner   []byte
	seller  []byte
	comment string
	due     *uint64
}

const asked Part = 1

var shape = New("Row",
	DecimalIf("due", func(r row) *uint64 { return r.due }).Optional(),
	Decimal("lt", func(r row) uint64 { return r.lt }).Doc("logical time"),
	Enum("kind", Words{"in", "out"}, func(r row) int32 { return r.kind }),
	Party("owner", func(r row) []byte { return r.owner }),
	Address("seller", func(r row) []byte { return r.seller }).If(func(r row) bool { return r.kind == 1 }).InBook(),
	Text("comment", func(r row) string { return r.comment }).Null(),
	Uint32("only_out", func(row) uint32 { return 7 }).NullUnless(func(r row) bool { return r.kind == 1 }),
	Hash[row]("trace_id", nil).Null(),
	Bool("extra", func(row) bool { return true }).Asked(asked),
)

func account(last byte) []byte { return append(make([]byte, address.Size-1), last) }

func TestMembersAreWrittenAsTheyAreDeclared(t *testing.T) {
	const one, two = `"0:0000000000000000000000000000000000000000000000000000000000000001"`, `"0:0000000000000000000000000000000000000000000000000000000000000002"`
	due := uint64(3)
	for name, c := range map[string]struct {
		row   row
		parts Part
		want  string
		book  []address.Address
	}{
		"without all that can be missing": {
			row{lt: 5}, 0,
			`{"lt":"5","kind":"in","owner":"addr_none","comment":null,"only_out":null,"trace_id":null}`,
			[]address.Address{Nobody},
		},
		"with all of it": {
			row{lt: 5, kind: 1, owner: account(1), seller: account(2), comment: "<", due: &due}, asked,
			`{"due":"3","lt":"5","kind":"out","owner":` + one + `,"seller":` + two + `,"comment":"\u003c","only_out":7,"trace_id":null,"extra":true}`,
			[]address.Address{address.Address(account(1)), address.Address(account(2))},
		},
		"with an address that is left out but known": {
			row{owner: account(1), seller: account(2)}, 0,
			`{"lt":"0","kind":"in","owner":` + one + `,"comment":null,"only_out":null,"trace_id":null}`,
			[]address.Address{address.Address(account(1)), address.Address(account(2))},
		},
	} {
		w := &Writer{Book: Book{}, Parts: c.parts}
		shape.Write(w, c.row)
		if string(w.JSON) != c.want {
			t.Errorf("%s: written is\n%s, want\n%s", name, w.JSON, c.want)
		}
		if len(w.Book) != len(c.book) {
			t.Errorf("%s: the book has %d addresses, want %d", name, len(w.Book), len(c.book))
		}
		for _, a := range c.book {
			if _, ok := w.Book[a]; !ok {
				t.Errorf("%s: %x is missing in the book", name, a)
			}
		}
		if got := shape.Append(nil, c.row); c.parts == 0 && string(got) != c.want {
			t.Errorf("%s: without a book it is %s, want %s", name, got, c.want)
		}
	}
}

func TestTheAddressesOfARowAreKnownBeforeItIsWritten(t *testing.T) {
	deal := New("Deal",
		Object("best", shape, func(rows []row) row { return rows[0] }, func(rows []row) bool { return len(rows) > 0 }),
		List("all", shape, Same[[]row], Same[row]),
		Address("of_some", func([]row) []byte { return account(9) }).If(func(rows []row) bool { return len(rows) > 1 }),
		Address("asked", func([]row) []byte { return account(8) }).Asked(asked),
	)
	for name, rows := range map[string][]row{
		"no rows": nil,
		"rows":    {{owner: account(1), seller: account(2)}, {kind: 1, owner: account(3), seller: account(4)}, {kind: 1, owner: account(3)}},
		"a party": {{seller: account(5)}},
	} {
		w, names := &Writer{Book: Book{}}, Book{}
		deal.Write(w, rows)
		delete(w.Book, Nobody)
		if deal.Names(names, rows); !maps.Equal(names, w.Book) {
			t.Errorf("%s: known are %v, written %v", name, names, w.Book)
		}
	}
}

func TestAShapeDescribesWhatItWrites(t *testing.T) {
	d := &openapi.Document{
		Error:      String,
		Operations: []*openapi.Operation{{Path: "/rows", Method: "GET", Result: shape}},
	}
	text, err := d.Render()
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct{ Schemas map[string]json.RawMessage }
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"object","properties":{"due":{"$ref":"#/components/schemas/Decimal"},` +
		`"lt":{"$ref":"#/components/schemas/Decimal","description":"logical time"},"kind":{"type":"string","enum":["in","out"]},` +
		`"owner":{"type":"string"},"seller":{"$ref":"#/components/schemas/Address"},"comment":{"type":["string","null"]},` +
		`"only_out":{"type":["integer","null"],"minimum":0,"maximum":4294967295},` +
		`"trace_id":{"anyOf":[{"$ref":"#/components/schemas/Hash"},{"type":"null"}]},"extra":{"type":"boolean"}},` +
		`"required":["lt","kind","owner","comment","only_out","trace_id"]}`
	if got := string(document.Components.Schemas["Row"]); got != want {
		t.Errorf("the schema is\n%s, want\n%s", got, want)
	}
}
