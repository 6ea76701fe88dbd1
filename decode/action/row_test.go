package action_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
)

// leg is a swap in a row of them, at the place k, of the k-th jettons for the next ones.
type leg struct {
	name, dex string
	k         byte
	vaults    bool                 // what pays is not what got
	payload   func() *cell.Builder // nil for none
	swap      func(l *leg, pay step) step
}

func (l *leg) account(n byte) []byte { return account(0x10*l.k + n) }

func (l *leg) assetIn() []byte   { return account(l.k) }
func (l *leg) assetOut() []byte  { return account(l.k + 1) }
func (l *leg) walletIn() []byte  { return l.account(1) }
func (l *leg) walletOut() []byte { return l.account(2) }
func (l *leg) pool() []byte      { return l.account(3) }
func (l *leg) gets() []byte      { return l.account(4) }
func (l *leg) in() int64         { return 100 + int64(l.k) }
func (l *leg) out() int64        { return l.in() + 1 }

func (l *leg) wallets() [2][]byte { return [2][]byte{l.walletIn(), l.walletOut()} }

func (l *leg) pays() []byte {
	if l.vaults {
		return l.account(5)
	}
	return l.gets()
}

var legs = []leg{
	{name: "STON.fi", dex: "stonfi", swap: func(l *leg, pay step) step {
		params := addr(coins(addr(coins(cell.BeginCell(), 0), l.walletIn()), l.out()), l.walletOut())
		b := addr(order(0xf93bb43f), bob).MustStoreUInt(0xc64370e5, 32).MustStoreBoolBit(true).MustStoreRef(params.EndCell())
		return step{to: l.pool(), value: 60, body: order(0x25938561), then: []step{{to: l.pays(), value: 50, body: b, then: []step{pay}}}}
	}},
	{name: "STON.fi v2", dex: "stonfi_v2", swap: func(l *leg, pay step) step {
		return stonfiV2Swap(l.pool(), stonfiV2Pay(0xc64370e5, bob, l.pays(), l.wallets(), [2]int64{0, l.out()}, pay))
	}},
	{name: "TONCO", dex: "tonco", swap: func(l *leg, pay step) step {
		paid := toncoPays(200, l.wallets(), [2]int64{0, l.out()}, pay)
		paid.to = l.pays()
		return toncoSwap(l.pool(), l.walletIn(), paid)
	}},
	{name: "DeDust", dex: "dedust", vaults: true, swap: func(l *leg, pay step) step {
		s := dedustFirst(l.in(), nil, dedustEvent(l.assetIn(), l.in(), l.assetOut(), l.out()),
			dedustPays(0xad4eb6f5, l.pays(), l.out(), dedustProof(l.assetIn(), l.assetOut()), pay))
		s.to = l.pool()
		return s
	}},
	{name: "Swap Coffee", dex: "coffee", vaults: true, swap: func(l *leg, pay step) step {
		return coffeeHop(l.pool(), l.in(), coffeeEvent(l.assetIn(), l.in(), l.out()),
			coffeePays(l.pays(), l.out(), coffeeProof(l.assetIn(), l.assetOut()), pay))
	}},
	{name: "Bidask", dex: "bidask", swap: func(l *leg, pay step) step {
		return step{to: l.pool(), value: 60, body: order(0x87d36990), then: []step{{to: l.pays(), value: 50, body: order(0xd3a25890), then: []step{pay}}}}
	}},
	{name: "Bidask without ranges", dex: "bidask", payload: func() *cell.Builder { return word(0xdd79732c) }},
	{name: "Moon", dex: "moon", payload: func() *cell.Builder { return moonOrder(word(0xb37a900b)) }},
}

// begin is what is sent from a wallet for a row of swaps, the last of which pays bob.
func begin(row []leg, from []byte) step {
	l := &row[0]
	var pay step
	if len(row) > 1 {
		pay = begin(row[1:], l.walletOut())
	} else {
		pay = sends(l.out(), l.walletOut(), bobY, bob, nil)
	}
	if l.swap != nil {
		pay = l.swap(l, pay)
	}
	var payload *cell.Builder
	if l.payload != nil {
		payload = l.payload()
	}
	return sends(l.in(), from, l.walletIn(), l.gets(), payload, pay)
}

func TestSwapsInARow(t *testing.T) {
	check := func(row []leg) {
		var names []string
		facts := known{jettons(aliceX, alice, row[0].assetIn()), jettons(bobY, bob, row[len(row)-1].assetOut())}
		for i := range row {
			l := &row[i]
			names = append(names, l.name)
			facts = append(facts, jettons(l.walletIn(), l.gets(), l.assetIn()), jettons(l.walletOut(), l.pays(), l.assetOut()))
		}
		t.Run(strings.Join(names, ", "), func(t *testing.T) {
			list := recognise(t, facts, play(alice, begin(row, aliceX)))
			if wants(t, list, slices.Repeat([]string{"jetton_swap"}, len(row))...); t.Failed() {
				return
			}
			slices.SortStableFunc(list, func(a, b *action.Action) int { return cmp.Compare(a.StartLt, b.StartLt) })
			from, wallet := alice, aliceX
			for i, l := range row {
				to, toWallet := bob, bobY
				if i+1 < len(row) {
					to, toWallet = row[i+1].gets(), row[i+1].walletIn()
				}
				details(t, list[i:i+1], "jetton_swap", slices.Concat([]any{"dex", l.dex, "asset_in", l.assetIn(), "asset_out", l.assetOut()},
					transferred("incoming", l.assetIn(), from, l.gets(), wallet, l.walletIn(), l.in()),
					transferred("outgoing", l.assetOut(), l.pays(), to, l.walletOut(), toWallet, l.out()))...)
				from, wallet = l.pays(), l.walletOut()
			}
		})
	}
	var rows func(row []leg)
	rows = func(row []leg) {
		for _, l := range legs {
			// Two routers of one of these make one swap.
			if n := len(row); n > 0 && row[n-1].dex == l.dex && (l.dex == "stonfi_v2" || l.dex == "tonco") {
				continue
			}
			l.k = byte(len(row) + 2)
			longer := append(slices.Clip(row), l)
			if check(longer); len(longer) < 3 {
				rows(longer)
			}
		}
	}
	rows(nil)
}
