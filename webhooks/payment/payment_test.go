package payment

import (
	"bytes"
	"encoding/base64"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/address"
	"tonscribe/ton/body"
	toncell "tonscribe/ton/cell"
)

func account(n byte) address.Address { return address.New(0, bytes.Repeat([]byte{n}, 32)) }

func order(master bool, comment string) Order {
	o := Order{Amount: big.NewInt(1_500_000_000), To: account(1), From: account(2), Comment: comment}
	if master {
		m := account(9)
		o.Master, o.ToWallet, o.FromWallet = &m, account(3), account(4)
	}
	return o
}

func TestEveryBodyCarriesItsReferenceAndNoTwoAreEqual(t *testing.T) {
	seen := map[string]bool{}
	for _, master := range []bool{false, true} {
		for _, comment := range []string{"", "Order 42", "with a sign #", strings.Repeat("длинно ", 38), strings.Repeat("x", MaxComment)} {
			reference := NewReference()
			m, err := Build(reference, order(master, comment))
			if err != nil {
				t.Fatal(err)
			}
			got, jetton, is := Carried(m.Body)
			if got != reference || jetton != master || !is {
				t.Errorf("jetton %t, comment %q: it carries %s (jetton %t, %t), want %s", master, comment, got, jetton, is, reference)
			}
			hash := string(m.Body.Hash())
			if seen[hash] {
				t.Errorf("comment %q: another payment has that body", comment)
			}
			seen[hash] = true
		}
	}
}

// A payer may copy the comment from a page, with what stands around it.
func TestACommentWrittenByHandCarriesItsReferenceBeforeWhiteSpace(t *testing.T) {
	reference := NewReference()
	for _, end := range []string{" ", "\n", "\r\n", "\u00a0 \t"} {
		comment := "Order 42" + sign + base64.RawURLEncoding.EncodeToString(reference[:]) + end
		if got, _, is := Carried(text(comment)); !is || got != reference {
			t.Errorf("%q carries %s (%t), want %s", comment, got, is, reference)
		}
	}
}

func TestWalletsAndExplorersReadWhatIsPaid(t *testing.T) {
	reference := NewReference()
	m, err := Build(reference, order(true, "Order 42"))
	if err != nil {
		t.Fatal(err)
	}
	r := toncell.NewReader(m.Body)
	r.Skip(32)
	fields, err := body.Of(body.JettonTransfer).Read(r)
	if err != nil {
		t.Fatal(err)
	}
	to, from := account(1), account(2)
	if amount := body.Value[*big.Int](fields, "amount"); amount.Int64() != 1_500_000_000 {
		t.Errorf("jettons %s, want 1500000000", amount)
	}
	if got := fields.Address("destination"); !bytes.Equal(got, to[:]) {
		t.Errorf("to %x, want %x", got, to)
	}
	if got := fields.Address("response_destination"); !bytes.Equal(got, from[:]) {
		t.Errorf("the rest goes to %x, want %x", got, from)
	}
	if got := body.Value[*big.Int](fields, "forward_ton_amount"); got.Sign() <= 0 {
		t.Errorf("the notification has %s nanotons, want 1 at least", got)
	}
	note := toncell.NewReader(fields.Payload("forward_payload").Cell)
	note.Skip(32)
	if text := body.Text(note); !strings.HasPrefix(text, "Order 42 #") {
		t.Errorf("the recipient reads %q, want the comment and a sign", text)
	}
	if m.To != account(4) {
		t.Errorf("it goes to %s, want the payer's jetton wallet", m.To)
	}
	seven := uint64(7)
	o := order(true, "")
	o.QueryID = &seven
	if m, err = Build(reference, o); err != nil {
		t.Fatal(err)
	}
	if query := m.Body.MustBeginParse().MustLoadUInt(96 - 64); query != uint64(body.JettonTransfer) {
		t.Errorf("opcode %x, want %x", query, body.JettonTransfer)
	}
	s := m.Body.MustBeginParse()
	s.MustLoadUInt(32)
	if query := s.MustLoadUInt(64); query != 7 {
		t.Errorf("query_id %d, want that of the order, 7", query)
	}
}

func TestATransferWhoseRestGoesOutsideOfTheChainCarriesItsReference(t *testing.T) {
	reference := NewReference()
	to := account(1)
	b := cell.BeginCell().MustStoreUInt(uint64(body.JettonTransfer), 32).MustStoreUInt(7, 64).MustStoreCoins(9)
	storeAccount(b, to)
	b.MustStoreUInt(1, 2).MustStoreUInt(0, 9) // addr_extern
	note := cell.BeginCell().MustStoreUInt(OpInvoice, 32).MustStoreSlice(reference[:], 128).EndCell()
	c := b.MustStoreBoolBit(false).MustStoreCoins(1).MustStoreBoolBit(true).MustStoreRef(note).EndCell()
	if got, jetton, is := Carried(c); got != reference || !jetton || !is {
		t.Errorf("it carries %s (jetton %t, %t), want %s", got, jetton, is, reference)
	}
}

func TestBodiesOfOthersCarryNothing(t *testing.T) {
	comment := func(s string) *cell.Cell { return text(s) }
	reference := NewReference()
	short := cell.BeginCell().MustStoreUInt(OpInvoice, 32).MustStoreSlice(reference[:], 100).EndCell()
	version4 := cell.BeginCell().MustStoreUInt(OpInvoice, 32).MustStoreSlice(bytes.Repeat([]byte{0x4f}, 16), 128).MustStoreUInt(0, 8).EndCell()
	for what, c := range map[string]*cell.Cell{
		"nothing": nil, "an empty body": cell.BeginCell().EndCell(), "a plain comment": comment("hello"), "a short one behind the sign": comment("hello #AAAA"),
		"an invoice cut off": short, "a UUID of another version": version4, "another opcode": cell.BeginCell().MustStoreUInt(0x12345678, 32).MustStoreSlice(reference[:], 128).EndCell(),
	} {
		if got, _, is := Carried(c); is {
			t.Errorf("%s carries %s", what, got)
		}
	}
}

func TestWhatCannotBePaidIsRefused(t *testing.T) {
	for what, change := range map[string]func(*Order){
		"no amount":              func(o *Order) { o.Amount = nil },
		"nothing":                func(o *Order) { o.Amount = new(big.Int) },
		"less than nothing":      func(o *Order) { o.Amount = big.NewInt(-1) },
		"more than fits":         func(o *Order) { o.Amount = new(big.Int).Lsh(big.NewInt(1), 120) },
		"too long a comment":     func(o *Order) { o.Comment = strings.Repeat("x", MaxComment+1) },
		"a comment of bad UTF-8": func(o *Order) { o.Comment = "\xff" },
	} {
		o := order(false, "")
		change(&o)
		if _, err := Build(NewReference(), o); !errors.Is(err, ErrOrder) {
			t.Errorf("%s: %v, want %v", what, err, ErrOrder)
		}
	}
}

func TestAmountsAreWrittenExactly(t *testing.T) {
	for _, c := range []struct {
		raw      string
		decimals uint8
		text     string
	}{
		{"10500000000", 9, "10.5"}, {"1", 9, "0.000000001"}, {"0", 9, "0"}, {"1000000000", 9, "1"}, {"42", 0, "42"}, {"123456", 6, "0.123456"},
		{"115792089237316195423570985008687907853269984665640564039457584007913129639935", 18, "115792089237316195423570985008687907853269984665640564039457.584007913129639935"},
	} {
		raw, _ := new(big.Int).SetString(c.raw, 10)
		if got := Text(raw, c.decimals); got != c.text {
			t.Errorf("%s with %d decimals is %s, want %s", c.raw, c.decimals, got, c.text)
		}
	}
}

// FuzzCarried holds that no body of a stranger's panics, and that what it carries is a
// reference.
func FuzzCarried(f *testing.F) {
	for _, master := range []bool{false, true} {
		m, err := Build(NewReference(), order(master, "x"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(m.Body.ToBOC())
	}
	f.Fuzz(func(t *testing.T, boc []byte) {
		c, err := cell.FromBOCWithOptions(boc, cell.BOCParseOptions{MaxCells: 1024})
		if err != nil {
			return
		}
		if reference, _, is := Carried(c); is && !reference.valid() {
			t.Errorf("it carries %s", reference)
		}
	})
}
