package devnet

import (
	"fmt"
	"maps"
	"slices"

	"tonscribe/devnet/contracts"
	"tonscribe/test/support/harness"
	"tonscribe/ton/body"
)

// outcome is what became of an order, read off the transactions: how it ended,
// and the transaction on the receiving side.
type outcome struct{ delivery, receipt string }

// outcomes reads what became of every order with an opcode to the accounts: what
// the account's own transaction says, and that of the message with the jettons,
// whose opcode is the carrier (0 where the order is all there is).
func (w *town) outcomes(accounts map[string]bool, opcode, carrier uint64) map[string]outcome {
	w.Helper()
	arrivals := map[string]*transaction{}
	for _, tx := range w.history {
		if tx.in != nil {
			arrivals[tx.in.hash] = tx
		}
	}
	found := map[string]outcome{}
	for _, tx := range w.history {
		if tx.in == nil || tx.in.bounced || tx.in.opcode != opcode || !accounts[tx.account] {
			continue
		}
		found[hash64(tx.hash)] = tx.outcome(arrivals, carrier)
	}
	return found
}

func (tx *transaction) outcome(arrivals map[string]*transaction, carrier uint64) outcome {
	switch {
	case tx.aborted:
		return outcome{"refused", ""}
	case carrier == 0:
		return outcome{"delivered", ""}
	}
	for _, m := range tx.out {
		if m.opcode != carrier || m.bounced {
			continue
		}
		arrival := arrivals[m.hash]
		switch {
		case arrival == nil:
			return outcome{"in_progress", ""}
		case arrival.aborted:
			return outcome{"returned", hash64(arrival.hash)}
		default:
			return outcome{"delivered", hash64(arrival.hash)}
		}
	}
	return outcome{"not_sent", ""}
}

// accountsOf are the rows' names, those that the index takes for what they are.
func accountsOf(rows map[string]map[string]any) map[string]bool {
	accounts := map[string]bool{}
	for a := range rows {
		accounts[a] = true
	}
	return accounts
}

func (w *town) checkTransfers() {
	purses := accountsOf(w.rows("jetton/wallets", "address", "jetton_wallets", "address", w.ofKinds(contracts.JettonWalletCode)))
	w.checkOutcomes("jetton/transfers", "jetton_transfers", w.outcomes(purses, uint64(body.JettonTransfer), uint64(body.JettonInternalTransfer)), false,
		"delivered", "returned", "refused", "in_progress")
	w.checkOutcomes("jetton/burns", "jetton_burns", w.outcomes(purses, uint64(body.JettonBurn), uint64(body.JettonBurnNotification)), true, "delivered", "returned")
	items := accountsOf(w.rows("nft/items", "address", "nft_items", "address", w.ofKinds(contracts.NFTItemCode, contracts.SBTItemCode, contracts.DNSItemCode)))
	w.checkOutcomes("nft/transfers", "nft_transfers", w.outcomes(items, uint64(body.NFTTransfer), 0), true, "delivered", "refused")
}

// checkOutcomes compares a list with the outcomes. Refused transfers of jettons
// are not listed; burns and NFT transfers are.
func (w *town) checkOutcomes(path, list string, want map[string]outcome, refusedToo bool, expected ...string) {
	w.Helper()
	counts := map[string]int{}
	for _, o := range want {
		counts[o.delivery]++
	}
	rows := map[string]map[string]any{}
	for _, row := range harness.Pages(w, w.api+path+"?include_delivery=true&limit=1000", list) {
		hash := fmt.Sprint(row["transaction_hash"])
		if rows[hash] != nil {
			w.Errorf("%s: transaction %s is there twice", path, hash)
		}
		rows[hash] = row
		if _, ok := want[hash]; !ok {
			w.Errorf("%s: %v, which is no order to one of its kind", path, row)
		}
	}
	for _, hash := range slices.Sorted(maps.Keys(want)) {
		o, row := want[hash], rows[hash]
		listed := o.delivery != "refused" || refusedToo
		switch {
		case listed && row == nil:
			w.Errorf("%s: transaction %s is not there, which is %s", path, hash, o.delivery)
		case !listed && row != nil:
			w.Errorf("%s: transaction %s is there, and its wallet refused it", path, hash)
		case row != nil:
			receipt := ""
			if r, ok := row["delivery_transaction_hash"].(string); ok {
				receipt = r
			}
			if row["delivery"] != o.delivery || receipt != o.receipt {
				w.Errorf("%s: transaction %s is %v by %q, want %s by %q", path, hash, row["delivery"], receipt, o.delivery, o.receipt)
			}
			if aborted := row["transaction_aborted"]; aborted != (o.delivery == "refused") {
				w.Errorf("%s: transaction %s is aborted: %v, and %s", path, hash, aborted, o.delivery)
			}
		}
	}
	for _, kind := range expected {
		if counts[kind] == 0 {
			w.Errorf("%s: none is %s: %v", path, kind, counts)
		}
	}
	w.Logf("%s: %d orders, %d listed: %v", path, len(want), len(rows), counts)
}
