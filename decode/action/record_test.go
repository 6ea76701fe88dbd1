package action_test

import (
	"errors"
	"math/big"
	"testing"

	"tonscribe/decode/action"
	"tonscribe/schema/record"
)

func TestRecordsOfActionsHaveEveryKindOfDetail(t *testing.T) {
	type inner struct {
		Amount *big.Int `detail:"amount"`
		Text   *string  `detail:"text"`
	}
	type all struct {
		Address    action.Address    `detail:"address"`
		Nobody     action.Address    `detail:"nobody"`
		Zero       *big.Int          `detail:"zero"`
		Large      *big.Int          `detail:"large"`
		Below      *big.Int          `detail:"below"`
		None       *big.Int          `detail:"none"`
		Unsigned   uint64            `detail:"unsigned"`
		Signed     *int64            `detail:"signed"`
		False      bool              `detail:"false"`
		Empty      string            `detail:"empty"`
		Opcode     *action.Opcode    `detail:"opcode"`
		BoC        action.BoC        `detail:"boc"`
		Currencies action.Currencies `detail:"currencies"`
		Addresses  []action.Address  `detail:"addresses"`
		NoneOfThem []action.Address  `detail:"none of them"`
		Object     *inner            `detail:"object"`
		NoObject   *inner            `detail:"no object"`
		List       []inner           `detail:"list"`
		EmptyList  []inner           `detail:"empty list"`
	}
	below, op, text := int64(-7), action.Opcode(1<<31), "x"
	details, values := action.Values(&all{
		Address: alice, Zero: new(big.Int), Large: new(big.Int).Lsh(big.NewInt(1), 200), Below: big.NewInt(-60), Unsigned: 1 << 63, Signed: &below,
		Opcode: &op, BoC: []byte{1}, Currencies: action.Currencies{{Id: 3, Amount: []byte{4}}}, Addresses: []action.Address{bob, alice},
		Object: &inner{Amount: big.NewInt(4)}, List: []inner{{Text: &text}, {Amount: big.NewInt(1)}},
	})
	raw, err := (&record.Action{Details: action.Pack(details, values)}).MarshalVT()
	if err != nil {
		t.Fatal(err)
	}
	r := &record.Action{}
	if err := r.UnmarshalVT(raw); err != nil {
		t.Fatal(err)
	}
	have, want := object(details, action.Unpack(details, r.Details)), object(details, values)
	for name, w := range want {
		if h := have[name]; !equal(w, h) || (w == nil) != (h == nil) {
			t.Errorf("%s is %v, want %v", name, h, w)
		}
	}
	// A record of a program that had them in another order, or had less.
	for i, j := 0, len(r.Details)-1; i < j; i, j = i+1, j-1 {
		r.Details[i], r.Details[j] = r.Details[j], r.Details[i]
	}
	if have := object(details, action.Unpack(details, r.Details)); !equal(want, have) {
		t.Errorf("in another order %v, want %v", have, want)
	}
	for name, h := range object(details, action.Unpack(details, nil)) {
		if h != nil {
			t.Errorf("%s is %v without a record", name, h)
		}
	}
	// A detail whose kind is another one now.
	for i := range r.Details {
		r.Details[i].Value = &record.ActionDetail_Signed{Signed: 5}
	}
	for name, h := range object(details, action.Unpack(details, r.Details)) {
		if (h != nil) != (name == "signed") {
			t.Errorf("%s is %v of a number", name, h)
		}
	}
}

func TestATypeThatIsNotKnownHasItsNameAndNoDetails(t *testing.T) {
	const foreign = "of_another_version"
	id := make([]byte, 32)
	details := []*record.ActionDetail{{Name: "amount", Value: &record.ActionDetail_Unsigned{Unsigned: 5}}}
	for want, r := range map[string]*record.Action{
		foreign:                      {Id: id, Type: foreign, Details: details, Success: true},
		"ton_transfer in " + foreign: {Id: id, Type: "ton_transfer", Ancestors: []string{foreign}, Parent: id, Success: true},
	} {
		a, err := action.FromRecord(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := summary(a); got != want || len(a.Details) != len(a.Type.Details) {
			t.Errorf("%s with %d details, want %s", got, len(a.Details), want)
		}
	}
	if since, _ := (&action.Action{Type: &action.Type{Name: foreign}}).Seen(); since != action.NoVersion {
		t.Errorf("seen since version %d", since)
	}
}

func TestARecordWithoutTypeOrIDIsAnError(t *testing.T) {
	for _, r := range []*record.Action{{Id: make([]byte, 32)}, {Id: make([]byte, 31), Type: "ton_transfer"}, {Type: "ton_transfer"}} {
		if _, err := action.FromRecord(r); !errors.Is(err, action.ErrRecord) {
			t.Errorf("%v, want %v", err, action.ErrRecord)
		}
	}
}
