package stack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/test/support/costtest"
)

// nested is an argument of tuples, one in the other, around a text of so many
// bytes.
func nested(depth, bytes int) (legacy, typed string) {
	inner := `{"@type":"tvm.stackEntryCell","cell":{"@type":"tvm.cell","bytes":"` + strings.Repeat("A", bytes) + `"}}`
	begin := `{"@type":"tvm.stackEntryTuple","tuple":{"@type":"tvm.tuple","elements":[`
	typed = "[" + strings.Repeat(begin, depth) + inner + strings.Repeat("]}}", depth) + "]"
	legacy = `[["tuple",{"@type":"tvm.tuple","elements":` + typed + `}]]`
	return legacy, typed
}

func TestNestedArgumentsAreReadInOnePass(t *testing.T) {
	legacy, typed := nested(600, 850_000)
	costtest.Within(t, costtest.MaxTime, 8<<20, func() {
		if _, err := Typed(json.RawMessage(typed)); err == nil {
			t.Error("600 tuples around what is no cell are read")
		}
	})
	costtest.Within(t, costtest.MaxTime, 8<<20, func() {
		if _, err := Pairs(json.RawMessage(legacy)); err == nil {
			t.Error("600 tuples around what is no cell are read")
		}
	})
}

func TestTuplesAndListsOfWhatIsNoEntryAreNone(t *testing.T) {
	for _, elements := range []string{`[7]`, `[{}]`, `[{"@type":"tvm.other"}]`, `[["num","1"]]`, `[{"@type":"tvm.stackEntryTuple","tuple":{"elements":[null]}}]`} {
		for label, want := range map[string]string{
			"tuple": "Invalid tvm.Tuple, valid tvm_stackEntryTuple expected", "tvm.Tuple": "Invalid tvm.Tuple, valid tvm_stackEntryTuple expected",
			"list": "Invalid tvm.List, valid tvm_stackEntryList expected", "tvm.List": "Invalid tvm.List, valid tvm_stackEntryList expected",
		} {
			kind := strings.ToLower(strings.TrimPrefix(label, "tvm."))
			if _, err := Pairs(json.RawMessage(`[["` + label + `",{"@type":"tvm.` + kind + `","elements":` + elements + `}]]`)); fmt.Sprint(err) != want {
				t.Errorf("%s of %s: %v, want %s", label, elements, err, want)
			}
		}
	}
}

func TestArgumentsAreCounted(t *testing.T) {
	number := `{"@type":"tvm.stackEntryNumber","number":{"number":"1"}}`
	sequence := func(kind string, elements ...string) string {
		return `{"@type":"tvm.stackEntry` + strings.ToUpper(kind[:1]) + kind[1:] + `","` + kind + `":{"@type":"tvm.` + kind + `","elements":[` + strings.Join(elements, ",") + `]}}`
	}
	times := func(n int, text string) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = text
		}
		return list
	}
	deep := func(levels int) string {
		begin, end := `{"@type":"tvm.stackEntryTuple","tuple":{"elements":[`, `]}}`
		return strings.Repeat(begin, levels) + strings.Repeat(end, levels)
	}
	for _, c := range []struct {
		name, stack string
		err         error
	}{
		{"as many as allowed", "[" + strings.Join(times(MaxArguments, number), ",") + "]", nil},
		{"one more", "[" + strings.Join(times(MaxArguments+1, number), ",") + "]", errStack},
		{"a list counts its elements", "[" + sequence("list", times(MaxArguments, number)...) + "]", errStack},
		{"a tuple of 255", "[" + sequence("tuple", times(255, number)...) + "]", nil},
		{"a tuple of 256", "[" + sequence("tuple", times(256, number)...) + "]", errStack},
		{"as deep as allowed", "[" + deep(maxNesting+1) + "]", nil},
		{"one deeper", "[" + deep(maxNesting+3) + "]", errStack},
		{"members in another order", `[{"tuple":{"elements":[` + number + `],"@type":"tvm.tuple"},"@type":"tvm.stackEntryTuple","list":null,"more":[{}]}]`, nil},
		{"no array", `{}`, errNoStack},
		{"null", `null`, errNoStack},
	} {
		costtest.Check(t, func() {
			if _, err := Typed(json.RawMessage(c.stack)); fmt.Sprint(err) != fmt.Sprint(c.err) {
				t.Errorf("%s: %v, want %v", c.name, err, c.err)
			}
		})
	}
}

func TestLongNumbersAreRefusedBeforeTheyAreRead(t *testing.T) {
	digits := strings.Repeat("9", 1_000_000)
	for _, stack := range []string{`[["num",` + digits + `]]`, `[["num","` + digits + `"]]`, `[["num","0x` + digits + `"]]`} {
		costtest.Check(t, func() {
			if _, err := Pairs(json.RawMessage(stack)); err == nil {
				t.Errorf("%.20s… is read", stack)
			}
		})
	}
}

// What a megabyte can hold most of costs no more than any other megabyte.
func TestManyPartsAreRefusedBeforeTheyAreRead(t *testing.T) {
	for _, part := range []string{`{},`, `[],`, `1,`, `{"a":1},`, `[[[]]],`, `"",`, `["num",1],`} {
		for _, size := range []int{1 << 20, 1 << 17 * len(part) / strings.Count(part, ",") / 4} {
			text := json.RawMessage("[" + strings.Repeat(part, min(size, 1<<20)/len(part)) + "1]")
			for name, read := range map[string]func(json.RawMessage) ([]any, error){"pairs": Pairs, "entries": Typed} {
				costtest.Check(t, func() {
					if _, err := read(text); err == nil {
						t.Errorf("%s: %d bytes of %s are read", name, len(text), part)
					}
				})
			}
		}
	}
}

func TestCellsThatAreSpeltOutAreReadAsTheyWereWritten(t *testing.T) {
	special := func(b *cell.Builder) *cell.Cell {
		c, err := b.EndCellSpecial(true)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	library := special(cell.BeginCell().MustStoreUInt(2, 8).MustStoreSlice(bytes.Repeat([]byte{7}, 32), 256))
	pruned := special(cell.BeginCell().MustStoreUInt(1, 8).MustStoreUInt(1, 8).MustStoreSlice(bytes.Repeat([]byte{8}, 32), 256).MustStoreUInt(3, 16))
	for name, c := range map[string]*cell.Cell{
		"ordinary": cell.BeginCell().MustStoreUInt(2, 7).MustStoreRef(cell.BeginCell().EndCell()).EndCell(),
		"library":  library, "below": cell.BeginCell().MustStoreUInt(2, 8).MustStoreRef(library).MustStoreRef(pruned).EndCell(),
	} {
		left := maxTreeCells
		w := &api.Writer{}
		cellTrees.Write(w, treeOf(c, &left))
		if got, err := ParseCell(w.JSON); err != nil || !bytes.Equal(got.Hash(), c.Hash()) {
			t.Errorf("%s: %s is read as %v, want %v (%v)", name, w.JSON, got, c, err)
		}
	}
	for _, text := range []string{
		`{"data":{"b64":"Ag==","len":8},"special":true}`, `{"data":{"b64":"AA==","len":8},"special":1}`,
	} {
		if c, err := ParseCell(json.RawMessage(text)); err == nil {
			t.Errorf("%s is read as %v", text, c)
		}
	}
}
