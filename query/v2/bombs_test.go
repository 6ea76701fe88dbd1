package v2

import (
	"crypto/sha256"
	"encoding/hex"
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
