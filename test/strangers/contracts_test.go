package strangers

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/harness"
)

// Codes of contracts that accept every message and answer every get-method with
// a dictionary of 2^40 entries in 41 cells: the data, doubled 40 times.
const (
	doubledData = "ED44 8028 98 2070C8CB01CCCCC9 E4"
	// 0, -1, addr_none, the dictionary as content of TEP-64, the data: a jetton
	// master's answer.
	masterCode = "F800 30 70 7F 70C8CB01C9D0 " + doubledData + " 71C8CB08CCC9 ED44"
	// 8 and the dictionary: a resolver's answer about itself.
	resolverCode = "F800 30 5B 78 " + doubledData
	// { } AGAIN
	endlessCode = "F800 30 90 EA"
)

var empty = cell.BeginCell().EndCell()

func codeOf(t testing.TB, text string) *cell.Cell {
	t.Helper()
	raw, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return cell.BeginCell().MustStoreSlice(raw, uint(len(raw)*8)).EndCell()
}

// leaf is the edge below 40 forks of a dictionary with keys of 256 bits: 216
// zeros as its label, and a value in a reference.
func leaf(value *cell.Cell) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(0b110, 3).MustStoreUInt(216, 8).MustStoreRef(value).EndCell()
}

// deployed is a contract that is on the chain, and of which done holds.
func deployed(t *testing.T, at *target, code, data, body *cell.Cell, done func(ctx context.Context, to string) (bool, string)) string {
	t.Helper()
	init := &tlb.StateInit{Code: code, Data: data}
	to := funded(t, at, init)
	message := deploy(t, to, init, body)
	status, text, err := at.post(t.Context(), "/api/v3/message", `{"boc":`+strconv.Quote(base64Of(message))+`}`)
	if err != nil || status != http.StatusOK {
		t.Fatalf("deploy: %d %.300s (%v), want 200", status, text, err)
	}
	var last string
	harness.Await(t, time.Minute, func() (ok bool) {
		ok, last = done(t.Context(), to.StringRaw())
		return ok
	}, func() string { return fmt.Sprintf("%s is not deployed: %.300s", to.StringRaw(), last) })
	return to.StringRaw()
}

// active reports whether an account has code.
func (at *target) active(ctx context.Context, account string) (bool, string) {
	_, text, _ := at.get(ctx, "/api/v2/getAddressState?address="+account)
	return strings.Contains(text, `"active"`), text
}

// tokenDictionary asks for the content of a jetton that has 2^40 attributes.
var tokenDictionary = attack{"getTokenData of a dictionary of shared cells", 2, func(t *testing.T, at *target) shot {
	content := cell.BeginCell().MustStoreUInt(0, 8).MustStoreSlice([]byte("x"), 8).EndCell() // snake
	path := "/api/v2/getTokenData?address=" + deployed(t, at, codeOf(t, masterCode), leaf(content), empty, at.active)
	return func(ctx context.Context) error {
		status, text, err := at.get(ctx, path)
		if err != nil || status != http.StatusOK || !strings.Contains(text, `"onchain"`) {
			return fmt.Errorf("%d %.200s (%w), want 200 with the known attributes", status, text, err)
		}
		return nil
	}
}}

// nameDictionary asks for the records of a name that has 2^40.
var nameDictionary = attack{"dnsResolve of a dictionary of shared cells", 2, func(t *testing.T, at *target) shot {
	record := cell.BeginCell().MustStoreUInt(0xad01, 16).MustStoreSlice(make([]byte, 32), 256).MustStoreUInt(0, 8).EndCell() // dns_adnl_address
	path := "/api/v2/dnsResolve?name=&address=" + deployed(t, at, codeOf(t, resolverCode), leaf(record), empty, at.active)
	return func(ctx context.Context) error {
		status, text, err := at.get(ctx, path)
		if err != nil || status != http.StatusInternalServerError || !strings.Contains(text, "the name has more than") {
			return fmt.Errorf("%d %.200s (%w), want a refusal because of their number", status, text, err)
		}
		return nil
	}
}}

// endlessMethod runs a get-method that ends only with its gas.
var endlessMethod = attack{"a get-method that never ends", 2, func(t *testing.T, at *target) shot {
	return refused(at, "/api/v3/runGetMethod", `{"address":"`+deployedEndless(t, at)+`","method":"x","stack":[]}`, http.StatusOK)
}}

// deployedEndless is a contract that runs until its gas is used up, whatever it
// is asked. It would not be accepted so: it comes with code that takes the
// endless one from the message.
func deployedEndless(t *testing.T, at *target) string {
	t.Helper()
	// ACCEPT, DROP, LDREF, DROP, SETCODE
	return deployed(t, at, codeOf(t, "F800 30 D4 30 FB04"), empty, cell.BeginCell().MustStoreRef(codeOf(t, endlessCode)).EndCell(),
		func(ctx context.Context, to string) (bool, string) {
			_, text, _ := at.post(ctx, "/api/v2/runGetMethodStd", `{"address":"`+to+`","method":"x","stack":[]}`)
			return strings.Contains(text, `"exit_code":-14`), text
		})
}
