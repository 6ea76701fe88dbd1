package devnet

import (
	"fmt"
	"maps"

	"tonscribe/devnet/contracts"
)

// sales are what the sales and auctions say that is not over: of the item, who
// holds it and who sells it.
func (w *town) sales() map[string]map[string]any {
	w.Helper()
	found := map[string]map[string]any{}
	for raw, r := range each(w, w.ofKinds(contracts.SaleCode, contracts.AuctionCode), func(raw string) (*reading, error) {
		result, err := w.call(raw, "get_sale_data")
		return &reading{ExecutionResult: result}, err
	}) {
		item, owner := fmt.Sprint(r.address(4)), r.address(5) // of both kinds
		w.must(r.err)
		if held := w.ownerOf(item); held == raw {
			found[item] = map[string]any{"by": raw, "owner": owner}
		}
	}
	return found
}

func (w *town) ownerOf(item string) any {
	if w.accounts[item] == nil {
		return nil
	}
	result, err := w.call(item, "get_nft_data")
	if err != nil {
		return nil
	}
	r := reading{ExecutionResult: result}
	return r.address(3)
}

// magicFixed is what sales at a fixed price tell first, auctions another number.
const magicFixed = 0x46495850

func (w *town) checkSales() {
	accounts := w.ofKinds(contracts.SaleCode, contracts.AuctionCode)
	rows := w.rows("nft/sales", "address", "nft_sales", "address", accounts)
	kinds := map[string]int{}
	for _, row := range rows {
		kinds[fmt.Sprint(row["type"])]++
		if details, ok := row["details"].(map[string]any); ok {
			maps.Copy(row, details)
		}
	}
	w.compareRows("nft/sales", rows, each(w, accounts, func(raw string) (facts, error) {
		result, err := w.call(raw, "get_sale_data")
		if err != nil {
			return nil, err
		}
		r := &reading{ExecutionResult: result}
		want := w.hashes(raw)
		if r.number(0).Int64() == magicFixed {
			r.fixedPrice(want)
		} else {
			r.auction(want)
		}
		for name, value := range want {
			if value == nil {
				delete(want, name) // left out where unknown
			}
		}
		return want, r.err
	}))
	if kinds["getgems_sale"] == 0 || kinds["getgems_auction"] == 0 {
		w.Errorf("sales by kind: %v, want some of both", kinds)
	}
}

func (r *reading) fixedPrice(want facts) {
	maps.Copy(want, facts{
		"type": "getgems_sale", "is_complete": r.flag(1), "created_at": r.count(2), "marketplace_address": r.address(3), "nft_address": r.address(4),
		"nft_owner_address": r.address(5), "full_price": r.decimal(6), "marketplace_fee_address": r.address(7), "marketplace_fee": r.decimal(8),
		"royalty_address": r.address(9), "royalty_amount": r.decimal(10),
	})
}

func (r *reading) auction(want facts) {
	maps.Copy(want, facts{
		"type": "getgems_auction", "end_flag": r.flag(1), "end_time": r.count(2), "marketplace_address": r.address(3), "nft_address": r.address(4),
		"nft_owner_address": r.address(5), "last_bid": r.decimal(6), "last_member": r.address(7), "min_step": r.count(8),
		"mp_fee_address": r.address(9), "mp_fee_factor": r.count(10), "mp_fee_base": r.count(11), "royalty_fee_address": r.address(12),
		"royalty_fee_factor": r.count(13), "royalty_fee_base": r.count(14), "max_bid": r.decimal(15), "min_bid": r.decimal(16),
		"created_at": r.count(17), "is_canceled": r.flag(19),
	})
	if at := r.count(18); at != float64(0) {
		want["last_bid_at"] = at
	}
}
