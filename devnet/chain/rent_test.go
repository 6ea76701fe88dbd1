package chain

import (
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// rentTown is a chain with two shards, audited, whose time is told.
type rentTown struct {
	*town
	chain *Chain
	audit *audit
	now   uint32
}

func newRentTown(t *testing.T) *rentTown {
	t.Helper()
	w := newTown(t, 4)
	c, err := New(Options{Seed: 1, GenUtime: genUtime, Accounts: w.accounts()})
	must(t, err)
	r := &rentTown{town: w, chain: c, audit: newAudit(t, c), now: genUtime}
	for range 8 {
		r.step(1)
	}
	return r
}

// step makes a block some seconds later, and those after it that are needed for
// everything to arrive.
func (r *rentTown) step(later uint32, messages ...*cell.Cell) {
	r.t.Helper()
	r.now += later
	for wait := 0; wait == 0 || len(r.audit.sent) > 0; wait++ {
		b, err := r.chain.Step(r.now, messages)
		must(r.t, err)
		if len(b.Refused) > 0 || wait > 10 {
			r.t.Fatalf("%d messages refused, %d on their way after %d blocks", len(b.Refused), len(r.audit.sent), wait)
		}
		r.audit.bundle(b)
		r.now, messages = r.now+1, nil
	}
}

// call sends what bounces when nobody is there.
func (r *rentTown) call(from, at *walletV4) *cell.Cell {
	return from.pay(r.t, to(at.addr, 50_000_000, true, nil))
}

func (r *rentTown) want(x *walletV4, status tlb.AccountStatus, owes bool) {
	r.t.Helper()
	root, err := r.chain.State(x.addr.Workchain(), [32]byte(x.addr.Data()))
	must(r.t, err)
	got, due := tlb.AccountStatus(tlb.AccountStatusNonExist), false
	if root != nil {
		var st tlb.AccountState
		must(r.t, tlb.Parse(&st, root))
		got, due = st.Status, st.StorageInfo.DuePayment != nil && st.StorageInfo.DuePayment.Nano().Sign() > 0
	}
	if got != status || due != owes {
		r.t.Fatalf("wallet %s is %s and owes rent: %v, want %s and %v", x.addr.StringRaw(), got, due, status, owes)
	}
}

// current is the wallet's state after the orders that it has sent.
func (x *walletV4) current() *tlb.StateInit {
	data := x.init.Data.MustBeginParse()
	data.MustLoadUInt(32)
	init := *x.init
	init.Data = cell.BeginCell().MustStoreUInt(uint64(x.seqno), 32).MustStoreBuilder(data.ToBuilder()).EndCell()
	return &init
}

func TestAccountsThatOweRentAreFrozenAndComeBackOrAreDeleted(t *testing.T) {
	r := newRentTown(t)
	caller, returns, evicted := r.wallets[0], r.wallets[1], r.wallets[2]
	r.step(1, returns.send(t, 128, to(caller.addr, 0, false, nil)), evicted.send(t, 128, to(caller.addr, 0, false, nil)))
	r.want(returns, tlb.AccountStatusActive, false)
	r.step(40, r.call(caller, returns))
	r.want(returns, tlb.AccountStatusFrozen, true)
	r.step(60, r.call(caller, evicted))
	r.want(evicted, tlb.AccountStatusFrozen, true)

	wrong := to(returns.addr, 1_000_000_000, false, nil)
	wrong.StateInit = returns.init // it had another seqno when it was frozen
	r.step(1, caller.pay(t, wrong))
	if got := statusOf(t, r.chain, returns.addr); got != tlb.AccountStatusFrozen {
		t.Fatalf("with another state the wallet is %s, want %s", got, tlb.AccountStatusFrozen)
	}
	right := to(returns.addr, 1_000_000_000, false, nil)
	right.StateInit = returns.current()
	r.step(1, caller.pay(t, right))
	r.want(returns, tlb.AccountStatusActive, false)
	r.step(1, returns.pay(t, to(caller.addr, 1_000_000, false, nil))) // it works again

	r.step(1, r.call(caller, evicted))
	r.want(evicted, tlb.AccountStatusNonExist, false)
	r.step(1, caller.pay(t, to(evicted.addr, 1_000_000_000, false, nil)))
	r.want(evicted, tlb.AccountStatusUninit, false)
}
