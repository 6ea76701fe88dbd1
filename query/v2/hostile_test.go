package v2

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
)

// nasty values, of which the right ones are a part, so that requests get past
// the first check.
func (w *town) nasty() []string {
	account := w.accounts()[3]
	return []string{
		"", "0", "1", "-1", "2", "3", "7", "15", "44", "1000", "1001", "2147483647", "2147483648", "-2147483648", "9223372036854775807",
		"-9223372036854775808", "9223372036854775808", "18446744073709551616", "0x8000000000000000", "1e3", "1.5", "NaN", "true", "no", "null", "[]", "{}",
		"seqno", "get_wallet_data", "get_jetton_data", "dnsresolve", "a.ton", "ton", ".", "..", strings.Repeat("x", 300), "\x00", "ÿ", "\"", "%", "'; --",
		account.String(), account.packed(), w.alice.address().String(), elector, "5:" + elector[3:], rawZero,
		someHash, strings.Repeat("0", 64), strings.Repeat("A", 43) + "=",
		text64(w.transfer(0, w.alice.address(), 1, "x").ToBOC()), "te6cckEBAQEAAgAAAEysuc0=", "te6ccgEBAQEA", "AAAA",
	}
}

// likely are values that a parameter may have.
func (w *town) likely(p *Param) []string {
	switch {
	case p.Kind == AddressKind:
		return []string{w.accounts()[0].String(), w.accounts()[7].packed(), w.alice.address().String(), rawZero, "-1:" + strings.Repeat("5", 64), "0:" + strings.Repeat("f", 64)}
	case p.Kind == HashKind, p.Kind == AccountKind, p.Kind == HashesKind:
		return []string{someHash, strings.Repeat("0", 64), text64(w.chain.Config().Hash())}
	case p.Kind == ShardKind:
		return []string{"-9223372036854775808", "4611686018427387904", "0", "1", "-1"}
	case p.Name == "workchain":
		return []string{"-1", "0", "1", "-2147483648"}
	case p.Kind == Int32Kind:
		return []string{"1", "2", "5", "12", "13", "100000"}
	case p.Kind == Int64Kind:
		return []string{"0", "1", "40", "1000", "1000001", "9223372036854775807"}
	case p.Kind == BytesKind:
		return []string{text64(w.transfer(0, w.alice.address(), 1, "x").ToBOC()), text64(w.transfer(9, w.alice.address(), 1, "x").ToBOC()), "te6cckEBAQEAAgAAAEysuc0="}
	}
	return nil
}

// stacks are arguments for get-methods that make little sense.
var stacks = []string{
	`[]`, `null`, `7`, `[[]]`, `[["num"]]`, `[["num",1]]`, `[["num","0x"]]`, `[["num","-0xff"]]`, `[["num",1.5]]`, `[["num",null]]`, `[[null,null]]`, `[["tvm.Cell",""]]`,
	`[["tvm.Cell","te6cckEBAQEAAgAAAEysuc0="]]`, `[["tvm.Slice",{}]]`, `[["cell",{}]]`, `[["cell",{"bytes":7}]]`, `[["cell",{"data":{"b64":"","len":-1},"refs":[]}]]`,
	`[["cell",{"data":{"b64":"AA==","len":8},"refs":[null]}]]`, `[["tuple",{"@type":"tvm.tuple","elements":[]}]]`, `[["list",{"@type":"tvm.list"}]]`, `[["tvm.Builder",""]]`,
	`[{"@type":"tvm.stackEntryNumber","number":{"number":"5"}}]`, `[{"@type":"tvm.stackEntryNumber"}]`, `[{"@type":"tvm.stackEntryList","list":{"elements":[]}}]`, `[{}]`, `[7]`,
	`[["num","115792089237316195423570985008687907853269984665640564039457584007913129639936"]]`, strings.Repeat(`[`, 500) + strings.Repeat(`]`, 500),
}

// allowed are the texts that answers of 5xx may begin with: those of lite
// servers and of the contract.
var allowed = []string{
	"LITE_SERVER_", "INVALID_BAG_OF_CELLS: ", "CommonMsgInfo tag is not ext_in_msg_info", "from mc block is too old", "lookup from block error: ",
	"Unsupported stack entry type: ", "no workers available (", "INTERNAL: unsupported stack entry", "missing uri field in offchain data",
}

func TestHostileParametersGetClearAnswers(t *testing.T) {
	w := newTown(t, 12, 30)
	values := w.nasty()
	chance := rand.New(rand.NewPCG(1, 2))
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	statuses := map[int]int{}
	for _, m := range methods {
		for range rounds {
			query, body := url.Values{}, map[string]any{}
			for _, p := range m.Params {
				if chance.IntN(6) == 0 && !p.Required {
					continue
				}
				value := values[chance.IntN(len(values))]
				if likely := w.likely(&p); chance.IntN(3) > 0 && len(likely) > 0 {
					value = likely[chance.IntN(len(likely))]
				}
				query.Set(p.Name, value)
				body[p.Name] = w.asJSON(chance, &p, value)
			}
			text, _ := json.Marshal(body)
			w.answers(statuses, "POST", "/"+m.Name, string(text))
			if !m.PostOnly {
				w.answers(statuses, "GET", "/"+m.Name+"?"+query.Encode(), "")
			}
		}
	}
	t.Logf("%v", statuses)
}

// asJSON is a value in one of the forms that JSON has for it.
func (w *town) asJSON(chance *rand.Rand, p *Param, text string) any {
	if p.Kind == StackKind || p.Kind == StackStdKind || p.Kind == CellKind {
		return json.RawMessage(stacks[chance.IntN(len(stacks))])
	}
	switch chance.IntN(4) {
	case 0:
		if json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
	case 1:
		return []any{text}
	}
	return text
}

// answers sends a request and looks at what comes back.
func (w *town) answers(statuses map[int]int, method, target, body string) {
	w.t.Helper()
	r := w.send(method, Prefix+target, body)
	statuses[r.status]++
	what := fmt.Sprintf("%s %.200s %.300s", method, target, body)
	if ok := r.body["ok"] == true; ok != (r.status == 200) {
		w.t.Errorf("%s: %d %s", what, r.status, r.text)
	}
	if r.status < 500 {
		return
	}
	text, _ := r.body["error"].(string)
	for _, prefix := range allowed {
		if strings.HasPrefix(text, prefix) {
			return
		}
	}
	w.t.Errorf("%s: %d %s", what, r.status, r.text)
}
