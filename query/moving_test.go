package query

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"tonscribe/internal/report"
	"tonscribe/query/list/contract"
	"tonscribe/query/list/paging"
	"tonscribe/query/memory"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// moving is what is known of contracts, of which some change when the rows that lead to them
// were read.
type moving struct {
	contract.Newest
	change func()
}

func (m *moving) ContractsAt(ctx context.Context, bundles memory.Bundles, keys []sql.AccountKey) (map[address.Address]*record.Contract, error) {
	m.change()
	m.change = func() {}
	return m.Newest.ContractsAt(ctx, bundles, keys)
}

// A wallet whose balance changes while the list of holders is read is at its new place, or
// at its old one, but not nowhere.
func TestAContractThatMovesWhileItsListIsReadIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, syntheticBundles(300, 9))
	master := address.Address(addressOf(200))
	tell := func(mcSeqno uint32, n, balance byte) {
		a := addressOf(n)
		place := fmt.Sprintf("%d, %d, unhex('%x'), %d, %d", schema.Workchain(a), schema.Prefix(schema.AccountID(a)), schema.AccountID(a), mcSeqno, w.bundles[0].Seqno)
		c := &record.Contract{Account: a, McSeqno: mcSeqno, FirstMcSeqno: w.bundles[0].Seqno, JettonWallet: &record.JettonWallet{Balance: []byte{balance}, Owner: a, Master: master[:]}}
		w.exec(t, fmt.Sprintf("INSERT INTO jetton_wallets (workchain, account_prefix, account, mc_seqno, first_mc_seqno, master_workchain, master_prefix, balance, active) VALUES (%s, 0, %d, %d, 1)", place, schema.Prefix(master[4:]), balance))
		w.exec(t, fmt.Sprintf("INSERT INTO contracts (workchain, account_prefix, account, mc_seqno, first_mc_seqno, record) VALUES (%s, unhex('%x'))", place, packed(t, c)))
	}
	for n := byte(1); n <= 5; n++ {
		tell(w.watermark, n, 10*n)
	}
	s := w.serve(t, nil)
	newest := &moving{s.component.store.Cache, func() { tell(w.watermark+1, 2, 99) }}
	lists := contract.New(reader.New(DefaultConfiguration().Store.Configuration, w.reader.Options(), report.Silent()), newest)
	f := &contract.JettonWalletFilter{Masters: []address.Address{master}, ByBalance: true}
	list, _, err := lists.JettonWallets(t.Context(), f, paging.Page{Limit: 10, Descending: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	for _, c := range list {
		got = append(got, c.JettonWallet.Balance...)
	}
	if want := []byte{99, 50, 40, 30, 10}; !slices.Equal(got, want) {
		t.Errorf("balances %v, want %v", got, want)
	}
}
