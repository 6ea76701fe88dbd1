package payments

import (
	"fmt"
	"math/big"
	"testing"
	"time"

	tonutils "github.com/xssnick/tonutils-go/address"

	"tonscribe/devnet"
	"tonscribe/devnet/contracts"
	"tonscribe/test/support/harness"
	"tonscribe/webhooks/event"
)

// failing is a payment that comes to nothing.
type failing struct {
	what   string
	from   *payer // the shop's payer when nil
	asset  string
	amount any
	to     string // the shop's recipient when empty
	change func(*contracts.Message)
	code   int64
	text   string
}

func withValue(nanotons int64) func(*contracts.Message) {
	return func(m *contracts.Message) { m.Value = big.NewInt(nanotons) }
}

func ignoringErrors(m *contracts.Message) { m.Mode |= contracts.ModeIgnoreErrors }

// Every way in which a payment can fail on a chain is told to the shop with its code and
// its text, from a message that the shop's library made, a wallet signed and v2 took.
func TestAShopIsToldOfEveryWayInWhichAPaymentFails(t *testing.T) {
	s := open(t, 500*time.Millisecond)
	own := devnet.OwnersJetton(seed).Address(0).String()
	s.awaitJettons(own)
	// A jetton whose issuer has the last word.
	toll := contracts.JettonMinter{Admin: s.payer.Address(0), WalletCode: contracts.JettonTollCode,
		Content: contracts.OnchainContent(map[string]string{"name": "Toll", "symbol": "TOLL", "decimals": "0"})}
	mint := contracts.JettonMintBody(contracts.JettonMint{Amount: big.NewInt(10_000_000), To: s.payer.Address(0), Value: big.NewInt(1e8)})
	s.sends(s.payer, contracts.Message{To: toll.Address(0), StateInit: toll.StateInit(), Value: big.NewInt(1e9), Body: mint, Mode: contracts.ModePayFees})
	s.awaitJettons(toll.Address(0).String())

	nobody := contracts.Forwarder{ID: 99}.Address(0).String()
	const coin = "TON"
	kinds := []failing{
		{what: "its wallet skips a message for more than it has", asset: coin, amount: 90_000_000, change: ignoringErrors, code: 37, text: "Not enough TON"},
		{what: "its wallet refuses to send more than it has", from: payerOf(7), asset: coin, amount: 90_000_000, code: 37, text: "Not enough TON"},
		{what: "its wallet refuses to send to a workchain that there is not", from: payerOf(10), asset: coin, amount: 1,
			change: func(m *contracts.Message) { m.To = tonutils.NewAddress(0, 5, m.To.Data()) }, code: 36, text: "Invalid destination address in outbound message"},
		{what: "it comes back from nobody", asset: coin, amount: 1, to: nobody, code: 70001, text: "The recipient has no contract and the transfer came back"},
		{what: "it comes back from the state of another account", asset: coin, amount: 1, to: nobody,
			change: func(m *contracts.Message) { m.StateInit = contracts.Forwarder{ID: 98}.StateInit() }, code: 70002, text: "The recipient's state does not fit its address and the transfer came back"},
		{what: "it comes back from a contract that throws", asset: coin, amount: 1, to: own, code: 65535, text: "The contract failed with exit code 65535"},
		{what: "it has nothing for its execution", asset: coin, amount: "0.000000001", code: 70004, text: "The transfer had not enough TON for its execution"},
		{what: "it has too little for its execution", asset: coin, amount: "0.00004", code: -14, text: "Out of gas"},
		{what: "it goes to another recipient", asset: coin, amount: 1, change: func(m *contracts.Message) { m.To = devnet.OwnerOf(seed, 5).Address(0) },
			code: 70005, text: "The transfer went to another recipient"},

		{what: "its wallet skips an order to the jetton wallet", asset: own, amount: 1,
			change: func(m *contracts.Message) { ignoringErrors(m); withValue(9e16)(m) }, code: 37, text: "Not enough TON"},
		{what: "the payer has too few jettons", asset: own, amount: 50_000_000, code: 706, text: "Not enough jettons"},
		{what: "too little TON goes along", asset: own, amount: 1, change: withValue(1e7), code: 709, text: "Not enough TON attached"},
		{what: "the payer's jetton wallet runs out of gas", asset: own, amount: 1, change: withValue(40_000), code: -14, text: "Out of gas"},
		{what: "the recipient lives in the masterchain", asset: own, amount: 1, to: devnet.OwnerOf(seed, 4).Address(-1).String(), code: 333, text: "Wrong workchain"},
		{what: "the payer has no jetton wallet", from: payerOf(4), asset: toll.Address(0).String(), amount: 1, code: 70001, text: "There is no such jetton wallet and the transfer came back"},
		{what: "the payer's jetton wallet keeps the jettons", asset: toll.Address(0).String(), amount: 1, code: 70006, text: "The jetton wallet did not send the jettons"},
		{what: "the recipient's jetton wallet refuses them", asset: toll.Address(0).String(), amount: 2_000_000, code: 45, text: "The jetton wallet is locked"},
	}
	orders := make([]map[string]any, len(kinds))
	for i := range kinds {
		k := &kinds[i]
		if k.from == nil {
			k.from = s.payer
		}
		orders[i] = map[string]any{"amount": k.amount, "asset": k.asset, "senderAddr": k.from.Address(0).String()}
		if k.to != "" {
			orders[i]["recipientAddr"] = k.to
		}
	}
	all := s.registers(orders...)
	const atOnce = 4 // messages of a wallet of version 4
	var waiting []contracts.Message
	send := func(last made) {
		s.sends(s.payer, waiting...)
		s.ends(last) // it obeys one message from outside after another
		waiting = nil
	}
	for i, k := range kinds {
		message := s.message(all[i])
		if k.change != nil {
			k.change(&message)
		}
		if k.from != s.payer {
			s.sends(k.from, message)
		} else if waiting = append(waiting, message); len(waiting) == atOnce {
			send(all[i])
		}
	}
	if len(waiting) > 0 {
		send(all[len(all)-1])
	}
	for i, k := range kinds {
		e := s.ends(all[i])
		if e.Data.Status != event.Failed || e.Data.ErrorCode == nil || *e.Data.ErrorCode != k.code || e.Data.ErrorMessage != k.text {
			t.Errorf("%s: the shop is told %+v, want code %d, %q", k.what, e.Data, k.code, k.text)
		}
		if e.Data.Asset != k.asset || e.Data.SenderAddr != k.from.Address(0).String() || e.Data.BodyBase64Hash != all[i].BodyBase64Hash {
			t.Errorf("%s: the shop is told of %s by %s with body %s, want %s by %s with %s", k.what,
				e.Data.Asset, e.Data.SenderAddr, e.Data.BodyBase64Hash, k.asset, k.from.Address(0), all[i].BodyBase64Hash)
		}
		var index struct {
			Transactions []struct {
				Trace string `json:"trace_id"`
			}
		}
		harness.GetJSON(t, s.base+"/api/v3/transactions?hash="+e.Data.TxHash, &index)
		if len(index.Transactions) != 1 || hexOf(t, index.Transactions[0].Trace) != e.Data.TraceID {
			t.Errorf("%s: the index has %+v of transaction %s, want trace %s", k.what, index, e.Data.TxHash, e.Data.TraceID)
		}
	}
	var log struct {
		Deliveries []struct{ Reference, State, Status string }
	}
	harness.Await(t, time.Minute, func() bool {
		s.ask("GET", "deliveries?limit=100", nil, &log)
		delivered := 0
		for _, d := range log.Deliveries {
			if d.State == "delivered" && d.Status == "failed" {
				delivered++
			}
		}
		return delivered == len(kinds)
	}, func() string { return fmt.Sprintf("deliveries %+v", log.Deliveries) })
}
