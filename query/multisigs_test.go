package query

import (
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"strings"
	"testing"

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
