package body_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"tonscribe/query/api"
	"tonscribe/test/support/realdata"
	"tonscribe/ton/body"
)

// plenty is a budget that no test exhausts.
var plenty = body.Budget{Bodies: 1 << 30, Reads: 1 << 30, Shown: 1 << 30}

func newDecoder() *body.Decoder { return body.NewDecoder(plenty, api.AppendText) }

// messages calls f with each message of an answer.
func messages(value any, f func(map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		if _, ok := v["message_content"].(map[string]any); ok {
			f(v)
		}
		for _, inner := range v {
			messages(inner, f)
		}
	case []any:
		for _, inner := range v {
			messages(inner, f)
		}
	}
}

func readJSON(t testing.TB, file string) (value any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(file, err)
	}
	return value
}

func TestBodiesAreShownAsInRecordedAnswers(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(realdata.Path(t), "api_v3_traces/walletkit/*.json"))
	if err != nil {
		t.Fatal(err)
	}
	d, compared := newDecoder(), map[string]bool{}
	for _, file := range files {
		messages(readJSON(t, file), func(m map[string]any) {
			content := m["message_content"].(map[string]any)
			var boc []byte
			if err := json.Unmarshal([]byte(`"`+content["body"].(string)+`"`), &boc); err != nil {
				t.Fatal(err)
			}
			text, err := d.Append(nil, boc)
			if err != nil {
				text = []byte("null")
			}
			var got any
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatalf("%v in %s", err, text)
			}
			if !reflect.DeepEqual(got, content["decoded"]) {
				want, _ := json.Marshal(content["decoded"])
				t.Errorf("%s: body %s:\n got %s, %v\nwant %s", filepath.Base(file), content["body"], text, err, want)
			}
			compared[content["body"].(string)] = true
		})
	}
	if len(compared) < 27 {
		t.Errorf("%d bodies were compared, want 27", len(compared))
	}
}

// unlike are bodies of real traces that have an opcode of the table and not its fields.
var unlike = map[string]string{
	"evaa_withdraw_master":     "without forward_ton_amount",
	"evaa_supply_fail":         "without forward_ton_amount",
	"jetton_mint":              "names two addresses behind the amount",
	"jetton_burn_notification": "has a reference in place of response_destination",
	"coffee_swap_internal":     "nobody is the receiver of notification_data",
	"coffee_payout_internal":   "nobody is the receiver of notification_data",
	"coffee_staking_deposit":   "has three references and no period_id",
}

func TestBodiesOfRealTracesFitTheirLayouts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(realdata.Path(t), "traces/*.json"))
	if err != nil {
		t.Fatal(err)
	}
	d, shown := newDecoder(), map[string]int{}
	for _, file := range files {
		messages(readJSON(t, file), func(m map[string]any) {
			text, _ := m["message_content"].(map[string]any)["body"].(string)
			var boc []byte
			if json.Unmarshal([]byte(`"`+text+`"`), &boc) != nil || len(boc) == 0 {
				return
			}
			opcode, _ := m["opcode"].(float64)
			name := body.NameOf(uint32(int64(opcode)))
			shownText, err := d.Append(nil, boc)
			switch {
			case err == nil && !json.Valid(shownText):
				t.Errorf("%s: %s", name, shownText)
			case err == nil:
				shown[name]++
			case name != "" && unlike[name] == "" && !errors.Is(err, body.ErrShort):
				t.Errorf("%s: a body of %s: %v: %s", filepath.Base(file), name, err, text)
			}
		})
	}
	if len(shown) < 100 {
		t.Errorf("bodies of %d opcodes were shown, want 100", len(shown))
	}
}
