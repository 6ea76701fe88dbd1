package query

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// A multisig and its orders are as anybody makes them, and it names whom it likes as a
// signer: so many that no answer holds them must not hide those of others.
func TestAMultisigWithoutEndOfOrdersLeavesOthersTheirs(t *testing.T) {
	t.Parallel()
	const orders = 10_001
	signer := addressOf(11)
	multisig := func(account []byte) *record.Contract {
		return &record.Contract{Account: account, CodeHash: hashOf(1), DataHash: hashOf(2), Multisig: &record.Multisig{Threshold: 1, Signers: [][]byte{signer}}}
	}
	order := func(account, of []byte, n int) *record.Contract {
		return &record.Contract{Account: account, CodeHash: hashOf(1), DataHash: hashOf(2), MultisigOrder: &record.MultisigOrder{Multisig: of, Seqno: big.NewInt(int64(n)).Bytes(), Threshold: 1}}
	}
	honest, other := addressOf(21), addressOf(22)
	all := []*record.Contract{multisig(honest), multisig(other), order(addressOf(23), honest, 1), order(addressOf(24), honest, 2)}
	for n := range orders {
		all = append(all, order(placeOf(0xd5, n), other, n))
	}
	w := newTown(t, all...)
	var answer struct {
		Multisigs []struct {
			Address string
			Orders  []json.RawMessage
		}
	}
	path := "/api/v3/multisig/wallets?wallet_address=" + rawOf(signer)
	got := w.ask(path)
	if err := json.Unmarshal(got.Body.Bytes(), &answer); err != nil || got.Code != http.StatusOK {
		t.Fatalf("%s: %d %.200s, %v", path, got.Code, got.Body, err)
	}
	shown := map[string]int{}
	for _, m := range answer.Multisigs {
		shown[m.Address] = len(m.Orders)
	}
	if want := map[string]int{rawOf(honest): 2, rawOf(other): 5_000}; !maps.Equal(shown, want) {
		t.Errorf("orders of multisigs: %v, want %v", shown, want)
	}
	if warning := got.Header().Get("Warning"); !strings.Contains(warning, "multisig/orders") {
		t.Errorf("the warning is %q, want one that says where the other orders are", warning)
	}
}

// Orders end: their contracts are frozen, or deleted. What led to them is still there.
func TestOrdersThatAreGoneAreNotCountedByAnOffset(t *testing.T) {
	t.Parallel()
	const orders = 230
	multisig := addressOf(21)
	var all []*record.Contract
	var want []string
	for n := range orders {
		a := placeOf(0xd5, n)
		all = append(all, &record.Contract{Account: a, CodeHash: hashOf(1), DataHash: hashOf(2), MultisigOrder: &record.MultisigOrder{Multisig: multisig, Seqno: big.NewInt(int64(n)).Bytes(), Threshold: 1}})
		if n%20 != 1 {
			want = append(want, rawOf(a))
		}
	}
	slices.Sort(want) // they became known at once
	w := newTown(t, all...)
	for n, c := range all {
		if n%20 == 1 {
			gone := &record.Contract{Account: c.Account, McSeqno: c.McSeqno + 1, FirstMcSeqno: c.FirstMcSeqno}
			w.exec(t, fmt.Sprintf("INSERT INTO contracts (workchain, account_prefix, account, mc_seqno, first_mc_seqno, record) VALUES (%d, %d, unhex('%x'), %d, %d, unhex('%x'))",
				schema.Workchain(c.Account), schema.Prefix(schema.AccountID(c.Account)), schema.AccountID(c.Account), gone.McSeqno, gone.FirstMcSeqno, packed(t, gone)))
		}
	}
	w.walks("/multisig/orders?sort=asc&multisig_address="+rawOf(multisig), "orders", addressIn, want, 70)
	slices.Reverse(want)
	w.walks("/multisig/orders?multisig_address="+rawOf(multisig), "orders", addressIn, want, 70)
}
