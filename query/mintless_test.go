package query

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/enginetest"
)

// mintless is jettons whose wallets hold, have claimed and can claim all sorts of
// amounts.
type mintless struct {
	*town
	master, plain []byte
	root          []byte
	amounts       map[string]int64 // of the airdrop, by owner
	wallets       []*record.Contract
}

const airdropLink = "https://airdrop.example/jetton.json"

// placeOf is an address by a kind and a number.
func placeOf(kind byte, n int) []byte {
	a := bytes.Repeat([]byte{kind}, schema.AddressSize)
	copy(a, []byte{0, 0, 0, 0})
	binary.BigEndian.PutUint32(a[4:], uint32(n)*2654435761) // prefixes in no order
	binary.BigEndian.PutUint32(a[8:], uint32(n))
	return a
}

// mintlessTown is that of the tests, which only read.
var mintlessTown kept[*mintless]

func newMintless(t *testing.T) *mintless {
	t.Helper()
	m := *mintlessTown.get(t, func() *mintless { return fillMintless(t) })
	m.town = m.again(t)
	return &m
}

func fillMintless(t *testing.T) *mintless {
	t.Helper()
	m := &mintless{master: placeOf(0xd0, 1), plain: placeOf(0xd0, 2), root: hashOf(0xaa), amounts: map[string]int64{}}
	content := func() *record.TokenContent {
		return &record.TokenContent{Layout: record.TokenContent_OFF_CHAIN, Attributes: []*record.TokenAttribute{{Name: "uri", Value: airdropLink}}}
	}
	special := []*record.Contract{
		{Account: m.master, JettonMaster: &record.JettonMaster{Content: content(), WalletCodeHash: hashOf(1), MintlessRoot: m.root}, CodeHash: hashOf(2), DataHash: hashOf(3)},
		{Account: m.plain, JettonMaster: &record.JettonMaster{Content: content(), WalletCodeHash: hashOf(1)}, CodeHash: hashOf(2), DataHash: hashOf(3)},
	}
	yes, no := true, false
	for n := range 480 {
		w := &record.JettonWallet{Owner: placeOf(0xe0, n/2), Master: m.master, WalletCodeHash: hashOf(1)}
		if n%2 == 1 {
			w.Master = m.plain // a master without an airdrop
		}
		switch k := n / 2; k % 6 {
		case 0:
			w.Claimed = &no // with something to claim below
			m.amounts[string(w.Owner)] = int64(k + 1)
		case 1:
			w.Claimed = &no // nothing is known
		case 2:
			w.Claimed, w.Balance = &no, big.NewInt(int64(k)).Bytes()
			m.amounts[string(w.Owner)] = 1000
		case 3:
			w.Claimed = &yes
			m.amounts[string(w.Owner)] = 1000
		case 4:
			w.Balance = big.NewInt(int64(k)).Bytes()
		case 5:
			w.Claimed = &no // for nothing
			m.amounts[string(w.Owner)] = 0
		}
		m.wallets = append(m.wallets, &record.Contract{Account: placeOf(0xf0, n), JettonWallet: w, CodeHash: hashOf(1), DataHash: hashOf(byte(n))})
	}
	m.town = fillTown(t, enginetest.KeptTables(t), append(special, m.wallets...))
	var rows []string
	for owner, amount := range m.amounts {
		rows = append(rows, fmt.Sprintf("(unhex('%x'), 0, unhex('%x'), %d, 100, %d)", m.root, owner[4:], amount, uint64(1)<<40))
	}
	m.exec(t, "INSERT INTO mintless_amounts VALUES "+strings.Join(rows, ","))
	m.exec(t, "INSERT INTO mintless_amounts VALUES "+rows[0]) // of a try that was broken off
	m.exec(t, fmt.Sprintf("INSERT INTO metadata SELECT SHA256('%s'), '%s', 5, '', '%s'", airdropLink, airdropLink,
		`{"name":"Drop","mintless_merkle_dump_uri":"https://airdrop.example/dump.boc","custom_payload_api_uri":"https://airdrop.example/api"}`))
	return m
}

// claim is what a wallet can claim, false when nothing is known of it.
func (m *mintless) claim(c *record.Contract) (amount int64, known bool) {
	w := c.JettonWallet
	if !bytes.Equal(w.GetMaster(), m.master) || w.Claimed == nil || *w.Claimed {
		return 0, false
	}
	amount, known = m.amounts[string(w.Owner)]
	return amount, known
}

// holds reports whether a wallet has something, or something to claim.
func (m *mintless) holds(c *record.Contract) bool {
	amount, _ := m.claim(c)
	return c.JettonWallet != nil && len(c.JettonWallet.Balance) > 0 || amount > 0
}

func TestWalletsWithSomethingToClaimHoldSomething(t *testing.T) {
	t.Parallel()
	m := newMintless(t)
	of := func(match func(w *record.JettonWallet) bool) func(*record.Contract) bool {
		return func(c *record.Contract) bool { return c.JettonWallet != nil && match(c.JettonWallet) && m.holds(c) }
	}
	ofMaster := of(func(w *record.JettonWallet) bool { return bytes.Equal(w.Master, m.master) })
	const path = "/jetton/wallets?exclude_zero_balance=true"
	for _, limit := range []int{7, 60} {
		master := path + "&jetton_address=" + rawOf(m.master)
		m.walks(master, "jetton_wallets", addressIn, m.list(ofMaster, byFirst), limit)
		m.walks(master+"&sort=desc", "jetton_wallets", addressIn, m.list(ofMaster, reversed(byBalance)), limit)
		m.walks(master+"&sort=asc", "jetton_wallets", addressIn, m.list(ofMaster, byBalance), limit)
	}
	m.walks(path+"&jetton_address="+rawOf(m.plain), "jetton_wallets", addressIn,
		m.list(of(func(w *record.JettonWallet) bool { return bytes.Equal(w.Master, m.plain) }), byFirst), 50)
	m.walks(path, "jetton_wallets", addressIn, m.list(of(func(*record.JettonWallet) bool { return true }), byFirst), 500)
	m.walks(path+"&sort=asc", "jetton_wallets", addressIn, m.list(of(func(*record.JettonWallet) bool { return true }), byBalance), 500)
	owners := [][]byte{placeOf(0xe0, 0), placeOf(0xe0, 1), placeOf(0xe0, 2), placeOf(0xe0, 6), placeOf(0xe0, 10), placeOf(0xe0, 11)}
	query := path
	for _, o := range owners {
		query += "&owner_address=" + rawOf(o)
	}
	byOwner := func(a, b *record.Contract) int {
		if d := bytes.Compare(a.JettonWallet.Owner, b.JettonWallet.Owner); d != 0 {
			return d
		}
		return byBalance(a, b)
	}
	m.walks(query+"&sort=asc", "jetton_wallets", addressIn, m.list(of(func(w *record.JettonWallet) bool {
		return slices.ContainsFunc(owners, func(o []byte) bool { return bytes.Equal(o, w.Owner) })
	}), byOwner), 2)
	query = path
	for _, c := range m.wallets[:40] {
		query += "&address=" + rawOf(c.Account)
	}
	m.walks(query, "jetton_wallets", addressIn, m.list(of(func(w *record.JettonWallet) bool {
		return slices.ContainsFunc(m.wallets[:40], func(c *record.Contract) bool { return c.JettonWallet == w })
	}), byAddress), 9)
}

func TestWalletsTellWhatTheyCanClaim(t *testing.T) {
	t.Parallel()
	m := newMintless(t)
	for _, c := range m.wallets[:24] {
		var answer struct {
			Wallets []struct {
				Info json.RawMessage `json:"mintless_info"`
			} `json:"jetton_wallets"`
		}
		body := m.body("/jetton/wallets?address=" + rawOf(c.Account))
		if err := json.Unmarshal([]byte(body), &answer); err != nil || len(answer.Wallets) != 1 {
			t.Fatalf("%v, %s", err, body)
		}
		want := ""
		if amount, known := m.claim(c); known {
			want = fmt.Sprintf(`{"amount":"%d","start_from":100,"expire_at":1099511627776,"custom_payload_api_uri":["https://airdrop.example/api"]}`, amount)
		}
		if have := string(answer.Wallets[0].Info); have != want {
			t.Errorf("wallet %s of owner %s: mintless_info is %s, want %s", rawOf(c.Account), rawOf(c.JettonWallet.Owner), have, want)
		}
	}
}
