package endpoints

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/query/params"
	v3 "tonscribe/query/v3"
)

func decodedOf(t testing.TB, a asked) (answer struct {
	Opcodes []string
	Bodies  []json.RawMessage
}) {
	t.Helper()
	q := &v3.Request{}
	if err := serveDecoded(q, a); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(q.Body, &answer); err != nil {
		t.Fatalf("%v in %s", err, q.Body)
	}
	return answer
}

// refusal is the text of an error of the client's, empty for none.
func refusal(err error) string {
	var known *params.Error
	if errors.As(err, &known) && known.Status == http.StatusUnprocessableEntity {
		return known.Text
	}
	return ""
}

func TestOpcodesAreReadAsHexFirst(t *testing.T) {
	a := asked{opcodes: []string{"0x0f8a7ea5", "F8A7EA5", "0", "260734629", "4294967295", "-1", "3576854235", "12345678", "10"}}
	want := "jetton_transfer jetton_transfer text_comment jetton_transfer bounce bounce excess unknown unknown"
	if got := strings.Join(decodedOf(t, a).Opcodes, " "); got != want {
		t.Errorf("%v:\n got %s\nwant %s", a.opcodes, got, want)
	}
	for _, text := range []string{"", "0x", "transfer", "0x1f8a7ea500", "4294967296", "-2147483649"} {
		q := &v3.Request{}
		want := fmt.Sprintf("invalid opcode format at index 1: %s", strings.TrimPrefix(text, "0x"))
		if err := serveDecoded(q, asked{opcodes: []string{"1", text}}); refusal(err) != want {
			t.Errorf("%q: %v, want 422 %s", text, err, want)
		}
	}
}

func TestBodiesAreReadInBothForms(t *testing.T) {
	boc := contracts.CommentBody("a<b").ToBOC()
	const want = `{"@type":"text_comment","text":"a\u003cb"}`
	plain := base64.StdEncoding.EncodeToString(boc)
	for what, text := range map[string]string{
		"base64": plain, "base64 of a query": strings.ReplaceAll(plain, "+", " "), "without padding": strings.TrimRight(plain, "="),
		"base64url": base64.URLEncoding.EncodeToString(boc), "hex": hex.EncodeToString(boc), "upper-case hex": strings.ToUpper(hex.EncodeToString(boc)),
	} {
		if got := string(decodedOf(t, asked{bodies: []string{text}}).Bodies[0]); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
}

func TestABodyThatCannotBeDecodedSaysWhy(t *testing.T) {
	boc := func(b *cell.Builder) string { return base64.StdEncoding.EncodeToString(b.EndCell().ToBOC()) }
	for _, c := range []struct{ text, want string }{
		{boc(cell.BeginCell()), `{"@type":"empty_cell"}`},
		{boc(cell.BeginCell().MustStoreUInt(1, 31)), `{"error":"unknown: boc is too small, size 31"}`},
		{boc(cell.BeginCell().MustStoreUInt(0xdeadbeef, 32)), `{"error":"unknown: no parser succeeded"}`},
		{boc(cell.BeginCell().MustStoreUInt(0x0f8a7ea5, 32)), `{"error":"unknown: no parser succeeded"}`},
		{"te6!", `{"error":"unknown: failed to decode base64: `},
		{"te6ccg", `{"error":"unknown: failed to deserialize boc: `},
		{"xyz", `{"error":"unknown: failed to decode hex: `},
		{"", `{"error":"unknown: failed to deserialize boc: `},
		{"b5ee9c72", `{"error":"unknown: failed to deserialize boc: `},
	} {
		if got := string(decodedOf(t, asked{bodies: []string{c.text}}).Bodies[0]); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestAnswersAreAsLongAsWhatWasAsked(t *testing.T) {
	q := &v3.Request{}
	if err := serveDecoded(q, asked{}); err != nil || string(q.Body) != `{"opcodes":[],"bodies":[]}` {
		t.Errorf("nothing is decoded as %s, %v", q.Body, err)
	}
	a := asked{bodies: []string{"zz", base64.StdEncoding.EncodeToString(contracts.CommentBody("x").ToBOC()), "zz"}}
	if got := decodedOf(t, a).Bodies; len(got) != 3 || !strings.Contains(string(got[1]), `"text":"x"`) {
		t.Errorf("%d bodies, the second %s", len(got), got)
	}
	for _, c := range []struct {
		asked
		want *params.Error
	}{{asked{opcodes: make([]string, 1001)}, errManyOpcodes}, {asked{bodies: make([]string, 1001)}, errManyBodies}} {
		if err := serveDecoded(&v3.Request{}, c.asked); !errors.Is(err, c.want) {
			t.Errorf("%v, want %v", err, c.want)
		}
	}
	for _, count := range []int{1001, 1500} {
		v, err := params.Parse(decodeBodies.Params, strings.Repeat("bodies=00&", count))
		if err == nil {
			err = serveDecoded(&v3.Request{}, asked{bodies: v.Texts("bodies")})
		}
		if !errors.Is(err, errManyBodies) {
			t.Errorf("%d bodies: %v, want %v", count, err, errManyBodies)
		}
	}
}

func TestAPostTakesListsOfTexts(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: `{"opcodes":[],"bodies":[]}`, `{"opcodes":null,"bodies":[]}`: `{"opcodes":[],"bodies":[]}`,
		`{"opcodes":["0x595f07bc"]}`: `{"opcodes":["jetton_burn"],"bodies":[]}`,
		`{"opcodes":"1"}`:            "opcodes must be a list of strings", `{"bodies":[1]}`: "bodies must be a list of strings",
		`{"bodies":[null]}`: "bodies must be a list of strings",
	} {
		q := &v3.Request{}
		if err := json.Unmarshal([]byte(text), &q.Sent); err != nil {
			t.Fatal(err)
		}
		if err := decodePosted.Serve(q); string(q.Body)+refusal(err) != want {
			t.Errorf("%s: %s, %v, want %s", text, q.Body, err, want)
		}
	}
}
