package v2

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/query/node"
	"tonscribe/test/support/costtest"
	tondns "tonscribe/ton/dns"
)

// contractWith is an account of the basechain with TVM code in hex.
func contractWith(number byte, code string, data *cell.Cell) chain.Account {
	raw, err := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
	if err != nil {
		panic(err)
	}
	body := cell.BeginCell().MustStoreSlice(raw, uint(len(raw))*8).EndCell()
	return chain.Account{ID: [32]byte{0xb0, number}, Code: body, Data: data, Balance: big.NewInt(1_000_000_000)}
}

func rawOf(a chain.Account) string { return "0:" + hex.EncodeToString(a.ID[:]) }

// Codes that answer every get-method.
const (
	// 0, -1, addr_none, the data, the data: a jetton master's answer.
	codeMaster = "30 70 7F 70 C8 CB01 C9 D0 ED44 20"
	// 8 and the data: a resolver's answer about itself.
	codeResolver = "30 5B 78 ED44"
	// A tuple of 200 times the data, and that 30 times.
	codeRepeated = "30 ED44 8100C7 9120 E4 8100C8 6F80 801D 9120 E4"
)

func onchainWith(root *cell.Cell) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(0, 8).MustStoreBoolBit(true).MustStoreRef(root).EndCell()
}

func TestDictionariesOfSharedCellsAreNotUnfolded(t *testing.T) {
	text := cell.BeginCell().MustStoreRef(cell.BeginCell().MustStoreUInt(0, 8).MustStoreSlice([]byte("x"), 8).EndCell())
	record := cell.BeginCell().MustStoreRef(cell.BeginCell().MustStoreUInt(uint64(tondns.ADNL), 16).MustStoreSlice(make([]byte, 32), 256).EndCell())
	chunk := cell.BeginCell().MustStoreRef(cell.BeginCell().EndCell())

	master := contractWith(1, codeMaster, onchainWith(costtest.SharedDictionary(256, 40, text)))
	resolver := contractWith(2, codeResolver, costtest.SharedDictionary(256, 40, record))
	name := sha256.Sum256([]byte("name"))
	chunked := cell.NewDict(256)
	if err := chunked.Set(cell.BeginCell().MustStoreSlice(name[:], 256).EndCell(), cell.BeginCell().
		MustStoreUInt(1, 8).MustStoreBoolBit(true).MustStoreRef(costtest.SharedDictionary(32, 32, chunk)).EndCell()); err != nil {
		t.Fatal(err)
	}
	chunks := contractWith(3, codeMaster, onchainWith(chunked.AsCell()))

	w := newTown(t, 2, 0, master, resolver, chunks)
	r := w.send("GET", Prefix+"/getTokenData?address="+rawOf(master), "")
	if got := at(w.result(r, "a master"), "jetton_content.type"); got != "onchain" {
		t.Errorf("a dictionary of 2^40 attributes: %s", r.text)
	}
	w.send("GET", Prefix+"/dnsResolve?name=&address="+rawOf(resolver), "").refusal(t, "2^40 records", 500, node.ErrNameRecords.Text)
	r = w.send("GET", Prefix+"/getTokenData?address="+rawOf(chunks), "")
	if data, ok := at(w.result(r, "chunks"), "jetton_content.data").(map[string]any); !ok || len(data) != 0 {
		t.Errorf("a name of 2^32 empty chunks: %s", r.text)
	}
}

func TestResultsThatRepeatACellEndAtTheirLimit(t *testing.T) {
	// A snake of 400 cells: 50 kB, that 6,000 times is 300 MB.
	var data *cell.Cell
	for i := range 400 {
		b := cell.BeginCell().MustStoreUInt(uint64(i), 64).MustStoreSlice(make([]byte, 100), 800)
		if data != nil {
			b.MustStoreRef(data)
		}
		data = b.EndCell()
	}
	contract := contractWith(4, codeRepeated, data)
	w := newTown(t, 2, 0, contract)
	limit := Known(node.TooLarge(maxContractBytes))
	for _, method := range []string{"runGetMethod", "runGetMethodStd"} {
		w.post(method, fmt.Sprintf(`{"address":"%s","method":"x","stack":[]}`, rawOf(contract))).
			refusal(t, method, limit.Status, limit.Text)
	}
}

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
		if _, err := typedArguments(json.RawMessage(typed)); err == nil {
			t.Error("600 tuples around what is no cell are read")
		}
	})
	costtest.Within(t, costtest.MaxTime, 8<<20, func() {
		if _, err := legacyArguments(json.RawMessage(legacy)); err == nil {
			t.Error("600 tuples around what is no cell are read")
		}
	})
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
		{"one more", "[" + strings.Join(times(MaxArguments+1, number), ",") + "]", errBadStack},
		{"a list counts its elements", "[" + sequence("list", times(MaxArguments, number)...) + "]", errBadStack},
		{"a tuple of 255", "[" + sequence("tuple", times(255, number)...) + "]", nil},
		{"a tuple of 256", "[" + sequence("tuple", times(256, number)...) + "]", errBadStack},
		{"as deep as allowed", "[" + deep(deepestArgument+1) + "]", nil},
		{"one deeper", "[" + deep(deepestArgument+3) + "]", errBadStack},
		{"members in another order", `[{"tuple":{"elements":[` + number + `],"@type":"tvm.tuple"},"@type":"tvm.stackEntryTuple","list":null,"more":[{}]}]`, nil},
		{"no array", `{}`, errNoStack},
		{"null", `null`, errNoStack},
	} {
		costtest.Check(t, func() {
			if _, err := typedArguments(json.RawMessage(c.stack)); fmt.Sprint(err) != fmt.Sprint(c.err) {
				t.Errorf("%s: %v, want %v", c.name, err, c.err)
			}
		})
	}
}

func TestLongNumbersAreRefusedBeforeTheyAreRead(t *testing.T) {
	digits := strings.Repeat("9", 1_000_000)
	for _, stack := range []string{`[["num",` + digits + `]]`, `[["num","` + digits + `"]]`, `[["num","0x` + digits + `"]]`} {
		costtest.Check(t, func() {
			if _, err := legacyArguments(json.RawMessage(stack)); err == nil {
				t.Errorf("%.20s… is read", stack)
			}
		})
	}
}
