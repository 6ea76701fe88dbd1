package store

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"tonscribe/internal/report"
	"tonscribe/ton/address"
)

// payment is one of a merchant, whose fields follow from n.
func payment(merchant ID, n byte) Payment {
	account := func(last byte) (a address.Address) {
		a[address.Size-1], a[0] = last, n
		return a
	}
	p := Payment{
		Reference: Reference(uuid.Must(uuid.NewV7())), Merchant: merchant, BodyHash: Hash{n, 1}, Amount: big.NewInt(int64(n)), Sender: account(1), Recipient: account(2),
		SenderText: "sender", RecipientText: "recipient ✓", CommentToSender: "<&>", CommentToRecipient: "order \u2028 " + string(rune('0'+n)), Ticker: "TON", Decimals: 9,
		Created: time.Now().UTC().Truncate(time.Microsecond),
	}
	if n%2 == 1 {
		master, query := account(3), uint64(1)<<63+uint64(n)
		p.Master, p.QueryID, p.SenderWallet, p.RecipientWallet = &master, &query, account(4), account(5)
		p.Amount = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	}
	return p
}

func (w *world) same(what string, got, want Payment) {
	w.Helper()
	if g, s := fmt.Sprintf("%+v", flat(got)), fmt.Sprintf("%+v", flat(want)); g != s {
		w.Errorf("%s:\n%s, want\n%s", what, g, s)
	}
}

// flat is a payment without pointers.
func flat(p Payment) (values []any) {
	if p.Master != nil {
		values = append(values, *p.Master)
	}
	if p.QueryID != nil {
		values = append(values, *p.QueryID)
	}
	amount, created := p.Amount.String(), p.Created.UTC()
	p.Master, p.QueryID, p.Amount, p.Created = nil, nil, nil, time.Time{}
	return append(values, amount, created, p)
}

func TestPaymentsAreFoundByReferenceByBodyAndByMerchant(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	shop, other := ID{1}, ID{2}
	var all []Payment
	for n := byte(1); n <= 9; n++ {
		one := payment(shop, n)
		if n == 5 {
			one.Merchant = other
		}
		all = append(all, one)
		w.must(w.Payments.Put(ctx, one))
	}
	var references []Reference
	var bodies []Hash
	for _, one := range all {
		references, bodies = append(references, one.Reference), append(bodies, one.BodyHash)
	}
	found, err := w.Payments.Find(ctx, append(references, Reference{9}))
	if err != nil || len(found) != len(all) {
		t.Fatalf("%d payments, %v, want %d", len(found), err, len(all))
	}
	byBody, err := w.Payments.ByBody(ctx, append(bodies, Hash{99}))
	if err != nil || len(byBody) != len(all) {
		t.Fatalf("%d payments by body, %v, want %d", len(byBody), err, len(all))
	}
	for _, one := range all {
		w.same("by reference", found[one.Reference], one)
		w.same("by body", byBody[one.BodyHash], one)
	}
	var pages []Payment
	for before := (*Reference)(nil); ; {
		page, err := w.Payments.List(ctx, shop, before, 3)
		w.must(err)
		if len(page) == 0 {
			break
		}
		pages = append(pages, page...)
		before = &page[len(page)-1].Reference
	}
	slices.Reverse(pages)
	want := slices.Delete(slices.Clone(all), 4, 5)
	if len(pages) != len(want) {
		t.Fatalf("%d payments of the merchant, want %d", len(pages), len(want))
	}
	for i := range want {
		w.same("in the list", pages[i], want[i])
	}
	if none, err := w.Payments.Find(ctx, nil); err != nil || len(none) != 0 {
		t.Errorf("nothing is asked for: %v, %v", none, err)
	}
}

func TestPaymentsOfYearsAreListedInTheirOrder(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	var want []Reference
	for _, ago := range []time.Duration{0, time.Minute, 2 * time.Hour, 25 * time.Hour, 30 * 24 * time.Hour, 700 * 24 * time.Hour, 20000 * 24 * time.Hour} {
		one := payment(ID{1}, 2)
		first := firstOf(w.now().Add(-ago))
		copy(one.Reference[:6], first[:6])
		want = append(want, one.Reference)
		w.must(w.Payments.Put(ctx, one))
	}
	for limit := 1; limit <= len(want)+1; limit++ {
		var got []Reference
		for before := (*Reference)(nil); ; {
			page, err := w.Payments.List(ctx, ID{1}, before, limit)
			w.must(err)
			for _, one := range page {
				got = append(got, one.Reference)
			}
			if len(page) < limit {
				break
			}
			before = &page[limit-1].Reference
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d at a time: %x, want %x", limit, got, want)
		}
	}
}

func TestPaymentsOfOneMomentShareAnInsert(t *testing.T) {
	w := newWorld(t)
	const n = 200
	var running sync.WaitGroup
	problems := make(chan error, n)
	for range n {
		running.Go(func() { problems <- w.Payments.Put(t.Context(), payment(ID{1}, 2)) })
	}
	running.Wait()
	close(problems)
	for err := range problems {
		w.must(err)
	}
	var rows, parts uint64
	w.must(w.client.Conn().QueryRow(t.Context(), "SELECT uniqExact(reference), uniqExact(_part) FROM payments").Scan(&rows, &parts))
	if rows != n || parts > n/4 {
		t.Errorf("%d payments in %d parts, want %d in a few", rows, parts, n)
	}
}

func TestAPaymentOfAStoppedStoreIsRefused(t *testing.T) {
	w := newWorld(t)
	stopped, err := New(DefaultConfiguration(), Dependencies{Report: report.Silent(), ClickHouse: w.client})
	w.must(err)
	w.must(errors.Join(stopped.Start(t.Context()), stopped.Stop(t.Context())))
	if err := stopped.Payments.Put(t.Context(), payment(ID{1}, 1)); !errors.Is(err, ErrStopped) {
		t.Errorf("%v, want %v", err, ErrStopped)
	}
}
