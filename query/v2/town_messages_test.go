package v2

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/query/node"
)

func TestSentMessagesAreTriedFirst(t *testing.T) {
	w := newTown(t, 3, 0)
	boc := func(c *cell.Cell) string { return `{"boc":"` + base64.StdEncoding.EncodeToString(c.ToBOC()) + `"}` }
	to := newPerson(9).address()
	good := w.transfer(0, to, 1_500_000_000, "hello")
	early := w.transfer(5, to, 1_500_000_000, "too early")

	refused := w.post("sendBoc", boc(early))
	text, _ := refused.body["error"].(string)
	if refused.status != 500 || !strings.HasPrefix(text, "LITE_SERVER_UNKNOWN: cannot apply external message to current state : External message was not accepted") ||
		!strings.Contains(text, "exitcode=33,") {
		t.Errorf("a message with a wrong seqno: %d %s", refused.status, refused.text)
	}
	w.post("sendBocReturnHashNoError", boc(early)).refusal(t, "a wrong seqno", 400, text)

	estimated := w.result(w.post("estimateFee", `{"address":"`+w.alice.address().String()+`","body":"`+base64.StdEncoding.EncodeToString(bodyOf(t, good).ToBOC())+`","ignore_chksig":false}`), "estimateFee")
	sent := w.result(w.post("sendBocReturnHash", boc(good)), "sendBocReturnHash")
	if at(sent, "@type") != "raw.extMessageInfo" || at(sent, "hash") != text64(good.Hash()) {
		t.Errorf("sent: %v, want hash %s", sent, text64(good.Hash()))
	}
	w.step(0)
	w.step(0)
	w.await()
	var list []any
	waitFor(t, func() bool { // answers about accounts are kept for a second
		list = w.get("getTransactions", "address="+w.alice.address().String()).([]any)
		return len(list) == 1
	})
	tx := list[0]
	for path, want := range map[string]any{
		"in_msg.hash": text64(good.Hash()), "in_msg.source": "", "in_msg.msg_data.@type": "msg.dataRaw",
		"out_msgs.0.value": "1500000000", "out_msgs.0.msg_data.@type": "msg.dataText", "out_msgs.0.message": "hello",
		"out_msgs.0.msg_data.text": text64([]byte("hello")), "account": "0:" + strings.ToUpper(hex.EncodeToString(w.alice.address().Data())),
	} {
		if got := at(tx, path); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	paid := w.paid(tx)
	for name, want := range paid {
		if got := at(estimated, "source_fees."+name); got != float64(want) {
			t.Errorf("estimated %s is %v, paid %d", name, got, want)
		}
	}
	again := w.post("sendBoc", boc(good))
	if text, _ := again.body["error"].(string); again.status != 500 || !strings.Contains(text, "exitcode=33,") {
		t.Errorf("the same message again: %d %s", again.status, again.text)
	}
}

// An estimate tells the way of what code sends also where the account cannot pay for
// it; what code does besides is refused.
func TestEstimatesTellTheWayOfAllThatIsSent(t *testing.T) {
	const accept, load, send, set = "F800", "ED44", "71 FB00", "FB04"
	message := func(to *cell.Builder, body *cell.Cell) *cell.Cell {
		return cell.BeginCell().MustStoreUInt(0b0110_00, 6).MustStoreBuilder(to).MustStoreCoins(1).
			MustStoreBoolBit(false).MustStoreCoins(0).MustStoreCoins(0).MustStoreUInt(0, 64+32).MustStoreBoolBit(false).MustStoreBoolBit(true).MustStoreRef(body).EndCell()
	}
	account := func(workchain byte) *cell.Builder {
		return cell.BeginCell().MustStoreAddr(address.NewAddress(0, workchain, make([]byte, 32)))
	}
	empty := cell.BeginCell().EndCell()
	base, master, nowhere := message(account(0), empty), message(account(255), empty), message(cell.BeginCell().MustStoreUInt(0, 2), empty)
	out := cell.BeginCell().MustStoreUInt(0b11_00_00, 6).MustStoreUInt(0, 64+32).MustStoreUInt(0b00, 2).EndCell()
	contracts := []struct {
		name, code string
		data       *cell.Cell
		fee        float64
		refused    string
	}{
		{"nothing", accept, base, 0, ""},
		{"a message", accept + load + send, base, 440_000, ""},
		{"three messages", accept + strings.Repeat(load+send, 3), base, 1_320_000, ""},
		{"one to the masterchain", accept + load + send, master, 11_000_000, ""},
		{"a log", accept + load + send, out, 400_000, ""},
		{"20 messages", accept + strings.Repeat(load+send, 20), base, 8_800_000, ""},
		{"21 messages", accept + strings.Repeat(load+send, 21), base, 0, "more than 20 actions"},
		{"one to nobody", accept + load + send, nowhere, 0, "messages with external addresses are unsupported"},
		{"what is no message", accept + load + send, empty, 0, "can't parse send_msg"},
		{"other code", accept + load + set, base, 0, "action_set_code unsupported"},
		{"a message and a failure", accept + load + send + "F2F0", base, 0, ""},
	}
	var accounts []chain.Account
	for i, c := range contracts {
		accounts = append(accounts, contractWith(0x40+byte(i), c.code, c.data))
	}
	w := newTown(t, 2, 0, accounts...)
	w.await()
	for i, c := range contracts {
		r := w.post("estimateFee", `{"address":"`+rawOf(accounts[i])+`","body":"`+text64(empty.ToBOC())+`"}`)
		if c.refused != "" {
			r.refusal(t, c.name, 500, "INTERNAL: estimate_fee: "+c.refused)
		} else if got := at(r.body, "result.source_fees.fwd_fee"); got != c.fee || at(r.body, "result.source_fees.gas_fee") == 0.0 {
			t.Errorf("%s: %s, want %v for its way and a price of gas", c.name, r.text, c.fee)
		}
	}
	to := newPerson(9).address()
	var ways []any
	for _, nanotons := range []int64{1_500_000_000, 1 << 60} {
		body := text64(bodyOf(t, w.transfer(0, to, nanotons, strings.Repeat("hello", 30))).ToBOC())
		ways = append(ways, at(w.result(w.post("estimateFee", `{"address":"`+w.alice.address().String()+`","body":"`+body+`"}`), "estimateFee"), "source_fees.fwd_fee"))
	}
	if ways[0] != ways[1] {
		t.Errorf("the way of a payment is estimated as %v, that of one without the money as %v", ways[0], ways[1])
	}
}

// waitFor looks again until something holds.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	for !holds() {
		select {
		case <-t.Context().Done():
			t.Fatal("never came true")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// bodyOf is the body of an external message.
func bodyOf(t *testing.T, message *cell.Cell) *cell.Cell {
	t.Helper()
	var m tlb.Message
	if err := tlb.Parse(&m, message); err != nil {
		t.Fatal(err)
	}
	return m.AsExternalIn().Body
}

// paid are the fees of a transaction by their names in estimates.
func (w *town) paid(shown any) map[string]int64 {
	w.t.Helper()
	var tx tlb.Transaction
	if err := tlb.Parse(&tx, fromBase64(w.t, at(shown, "data"))); err != nil {
		w.t.Fatal(err)
	}
	ordinary := tx.Description.(tlb.TransactionDescriptionOrdinary)
	gas := ordinary.ComputePhase.Phase.(tlb.ComputePhaseVM).GasFees.Nano().Int64()
	storage := ordinary.StoragePhase.StorageFeesCollected.Nano().Int64()
	action := ordinary.ActionPhase.TotalActionFees.Nano().Int64()
	return map[string]int64{
		"gas_fee": gas, "fwd_fee": ordinary.ActionPhase.TotalFwdFees.Nano().Int64(),
		"in_fwd_fee": tx.TotalFees.Coins.Nano().Int64() - gas - storage - action,
	}
}

func TestMalformedMessagesAreRefused(t *testing.T) {
	w := newTown(t, 2, 0)
	internal := cell.BeginCell().MustStoreUInt(0, 64).EndCell()
	cases := []struct{ boc, text string }{
		{"AAAA", "INVALID_BAG_OF_CELLS: body"},
		{text64(internal.ToBOC()), "CommonMsgInfo tag is not ext_in_msg_info"},
		{text64(make([]byte, 70000)), "LITE_SERVER_UNKNOWN: cannot apply external message to current state : external message too large, rejecting"},
		{text64(node.Body{Body: internal}.Message().ToBOC()), "LITE_SERVER_UNKNOWN: cannot apply external message to current state : Failed to unpack account state"},
	}
	deep := internal
	for range 600 {
		deep = cell.BeginCell().MustStoreRef(deep).EndCell()
	}
	cases = append(cases, struct{ boc, text string }{
		text64(node.Body{Body: deep}.Message().ToBOC()), "LITE_SERVER_UNKNOWN: cannot apply external message to current state : external message is too deep",
	})
	for _, c := range cases {
		w.post("sendBoc", `{"boc":"`+c.boc+`"}`).refusal(t, c.text, 500, c.text)
	}
}

// A cell cannot be deeper than 1024, and what a message puts around its parts counts.
func TestPartsOfMessagesThatAreAsDeepAsCellsCanBeAreRefused(t *testing.T) {
	w := newTown(t, 2, 0)
	chained := func(depth int) *cell.Cell {
		c := cell.BeginCell().EndCell()
		for range depth {
			c = cell.BeginCell().MustStoreRef(c).EndCell()
		}
		return c
	}
	const tooDeep = "LITE_SERVER_UNKNOWN: cannot apply external message to current state : external message is too deep"
	empty, deepest := text64(chained(0).ToBOC()), text64(chained(node.MaxDepth).ToBOC())
	inline := node.Body{Body: chained(node.MaxDepth)}.Message()
	w.post("sendBoc", `{"boc":"`+text64(inline.ToBOC())+`"}`).refusal(t, "a message", 500, tooDeep)
	w.post("sendQuery", `{"address":"`+someAddress+`","body":"`+text64(chained(node.MaxPartDepth).ToBOC())+`"}`).refusal(t, "a body that a message can have", 500, tooDeep)
	for _, c := range []struct{ parts, name string }{
		{`"body":"` + deepest + `"`, "body"},
		{`"body":"` + empty + `","init_code":"` + deepest + `"`, "code"},
		{`"body":"` + empty + `","init_data":"` + text64(chained(node.MaxPartDepth+1).ToBOC()) + `"`, "data"},
	} {
		for _, method := range []string{"sendQuery", "estimateFee"} {
			w.post(method, `{"address":"`+someAddress+`",`+c.parts+`}`).refusal(t, method+" "+c.name, 500, "INVALID_BAG_OF_CELLS: "+c.name+" is deeper than 1022")
		}
	}
}
