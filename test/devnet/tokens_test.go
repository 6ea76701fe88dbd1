package devnet

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/ton/nft"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/devnet/contracts"
	"tonscribe/test/harness"
)

// call runs a get-method through the lite server at the town's block.
func (w *town) call(raw, method string, params ...any) (*ton.ExecutionResult, error) {
	a, err := address.ParseRawAddr(raw)
	if err != nil {
		return nil, err
	}
	r, err := w.client.RunGetMethod(w.Context(), w.block, a, method, params...)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", method, raw, err)
	}
	return r, nil
}

// reading takes values off a get-method's result; what is not there is an error
// of the whole.
type reading struct {
	*ton.ExecutionResult
	err error
}

func (r *reading) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reading) number(i uint) *big.Int {
	n, err := r.Int(i)
	r.keep(err)
	if n == nil {
		return new(big.Int)
	}
	return n
}

// decimal is a number as the API shows amounts.
func (r *reading) decimal(i uint) string { return r.number(i).String() }

// count is a number as the API shows small ones.
func (r *reading) count(i uint) any { return float64(r.number(i).Int64()) }

func (r *reading) flag(i uint) bool { return r.number(i).Sign() != 0 }

func (r *reading) address(i uint) any {
	s, err := r.Slice(i)
	if err != nil {
		r.keep(err)
		return nil
	}
	a, err := s.Copy().LoadAddr()
	r.keep(err)
	return shown(a)
}

// cell is nil where the result is null.
func (r *reading) cell(i uint) *cell.Cell {
	if empty, err := r.IsNil(i); err != nil || empty {
		r.keep(err)
		return nil
	}
	c, err := r.Cell(i)
	r.keep(err)
	return c
}

// content is token content as the API shows it, without what is behind links.
func content(c *cell.Cell) (map[string]any, error) {
	if c == nil {
		return nil, nil
	}
	said, err := nft.ContentFromCell(c)
	if err != nil {
		return nil, err
	}
	shown := map[string]any{}
	switch said := said.(type) {
	case *nft.ContentOffchain:
		shown["uri"] = said.URI
	case *nft.ContentSemichain:
		attributes(&said.ContentOnchain, shown)
		shown["uri"] = said.URI
	case *nft.ContentOnchain:
		attributes(said, shown)
	default:
		return nil, fmt.Errorf("content %T", said)
	}
	return shown, nil
}

func attributes(of *nft.ContentOnchain, shown map[string]any) {
	for _, name := range strings.Fields("uri name description image symbol decimals amount_style render_type") {
		if value := of.GetAttribute(name); value != "" {
			shown[name] = value
		}
	}
}

// facts are members that a row must have, said by get-methods; nil says that
// there must be no row.
type facts map[string]any

// checkList compares what a list says of all accounts that could be in it with
// what their get-methods say. ask gives the facts of one.
func (w *town) checkList(path, list string, candidates []string, ask func(string) (facts, error)) {
	w.Helper()
	w.compareRows(path, w.rows(path, "address", list, "address", candidates), each(w, candidates, ask))
}

func (w *town) compareRows(what string, rows map[string]map[string]any, said map[string]facts) {
	w.Helper()
	none := 0
	for a, want := range said {
		switch row := rows[a]; {
		case want == nil && row != nil:
			w.Errorf("%s: %s is there, and should not: %v", what, a, row)
		case want == nil:
			none++
		case row == nil:
			w.Errorf("%s: %s is not there, want %v", what, a, want)
		default:
			w.compare(what+" "+a, row, want)
		}
	}
	if len(rows) == 0 {
		w.Errorf("%s: nothing is there", what)
	}
	w.Logf("%s: %d rows, %d that claim to be and are not", what, len(rows), none)
}

// hashes are the members with the hashes of an account's code and data, and the
// lt of its last transaction.
func (w *town) hashes(raw string) facts {
	said := standing{root: w.accounts[raw].Account, lt: w.accounts[raw].LastTransLT}
	if err := parseState(&said); err != nil {
		w.Fatal(err)
	}
	all := said.expected()
	return facts{"code_hash": all["code_hash"], "data_hash": all["data_hash"], "last_transaction_lt": fmt.Sprint(said.lt)}
}

func (w *town) ofKinds(kinds ...string) (accounts []string) {
	found := w.kinds()
	for _, kind := range kinds {
		accounts = append(accounts, found[kind]...)
	}
	return accounts
}

func addressSlice(a any) *cell.Slice {
	parsed := address.MustParseRawAddr(a.(string))
	return cell.BeginCell().MustStoreAddr(parsed).EndCell().MustBeginParse()
}

// says asks a parent for the address of one of its own.
func (w *town) says(parent any, method string, argument any) (any, error) {
	if parent == nil || w.accounts[parent.(string)] == nil {
		return nil, nil
	}
	result, err := w.call(parent.(string), method, argument)
	var refused ton.ContractExecError
	if errors.As(err, &refused) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := reading{ExecutionResult: result}
	return r.address(0), r.err
}

func (w *town) checkJettons() {
	w.checkList("jetton/wallets", "jetton_wallets", w.ofKinds(contracts.JettonWalletCode, contracts.BombCode), func(raw string) (facts, error) {
		result, err := w.call(raw, "get_wallet_data")
		if err != nil {
			return nil, ignoreExit(err)
		}
		r := reading{ExecutionResult: result}
		want := w.hashes(raw)
		want["balance"], want["owner"], want["jetton"] = r.decimal(0), r.address(1), r.address(2)
		if r.err != nil {
			return nil, r.err
		}
		if confirmed, err := w.says(want["jetton"], "get_wallet_address", addressSlice(want["owner"])); err != nil || confirmed != raw {
			return nil, err
		}
		return want, nil
	})
	w.checkList("jetton/masters", "jetton_masters", w.ofKinds(contracts.JettonMinterCode), func(raw string) (facts, error) {
		result, err := w.call(raw, "get_jetton_data")
		if err != nil {
			return nil, err
		}
		r := reading{ExecutionResult: result}
		want := w.hashes(raw)
		want["total_supply"], want["mintable"], want["admin_address"] = r.decimal(0), r.flag(1), r.address(2)
		want["jetton_wallet_code_hash"] = hash64(r.cell(4).Hash())
		text, err := content(r.cell(3))
		want["jetton_content"] = text
		return want, errors.Join(err, r.err)
	})
}

// ignoreExit is nil for a get-method that did not end well: what it is asked is
// not what the contract is.
func ignoreExit(err error) error {
	var refused ton.ContractExecError
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

func (w *town) checkNFTs() {
	collections := w.ofKinds(contracts.NFTCollectionCode, contracts.DNSCollectionCode)
	said := each(w, collections, func(raw string) (facts, error) {
		result, err := w.call(raw, "get_collection_data")
		if err != nil {
			return nil, err
		}
		r := reading{ExecutionResult: result}
		want := w.hashes(raw)
		want["next_item_index"], want["owner_address"] = r.decimal(0), r.address(2)
		text, err := content(r.cell(1))
		want["collection_content"] = text
		return want, errors.Join(err, r.err)
	})
	w.compareRows("nft/collections", w.rows("nft/collections", "collection_address", "nft_collections", "address", collections), said)

	onSale := w.sales()
	w.checkList("nft/items", "nft_items", w.ofKinds(contracts.NFTItemCode, contracts.SBTItemCode, contracts.DNSItemCode), func(raw string) (facts, error) {
		result, err := w.call(raw, "get_nft_data")
		if err != nil {
			return nil, err
		}
		r := reading{ExecutionResult: result}
		want := w.hashes(raw)
		want["init"], want["index"], want["collection_address"], want["owner_address"] = r.flag(0), r.decimal(1), r.address(2), r.address(3)
		want["on_sale"] = onSale[raw] != nil && want["owner_address"] == onSale[raw]["by"]
		if want["on_sale"] == true {
			want["real_owner"] = onSale[raw]["owner"]
		}
		if r.err != nil {
			return nil, r.err
		}
		if confirmed, err := w.says(want["collection_address"], "get_nft_address_by_index", r.number(1)); err != nil || confirmed != raw {
			return nil, err
		}
		if want["content"], err = w.contentOf(raw, &r); err != nil {
			return nil, fmt.Errorf("content of %s: %w", raw, err)
		}
		return want, nil
	})
}

// contentOf is an item's whole content, which its collection knows, with its
// name if it is one.
func (w *town) contentOf(raw string, item *reading) (any, error) {
	individual := item.cell(4)
	if individual == nil || item.err != nil {
		return nil, item.err
	}
	result, err := w.call(item.address(2).(string), "get_nft_content", item.number(1), individual)
	if err != nil {
		return nil, err
	}
	r := reading{ExecutionResult: result}
	whole := r.cell(0)
	if r.err != nil {
		return nil, r.err
	}
	text, err := content(whole)
	if err != nil {
		return nil, err
	}
	name, err := w.domain(raw)
	if err == nil && name != "" {
		text["domain"] = name
	}
	return text, err
}

// domain is the name that an item is, empty for other items.
func (w *town) domain(raw string) (string, error) {
	result, err := w.call(raw, "get_domain")
	if err != nil {
		return "", ignoreExit(err)
	}
	text, err := result.Slice(0)
	if err != nil {
		return "", err
	}
	label, err := text.LoadSlice(text.BitsLeft())
	return string(label) + ".ton", err
}

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

// checkNames compares names and their records with what dnsresolve says of ".".
func (w *town) checkNames() {
	items := w.ofKinds(contracts.DNSItemCode)
	rows := map[string]map[string]any{}
	said := each(w, items, func(raw string) (facts, error) {
		name, err := w.domain(raw)
		if err != nil {
			return nil, err
		}
		want := facts{"domain": name}
		owner, err := w.call(raw, "get_nft_data")
		if err != nil {
			return nil, err
		}
		r := reading{ExecutionResult: owner}
		want["nft_item_owner"] = r.address(3)
		return want, errors.Join(r.err, w.records(raw, want))
	})
	resolved := 0
	for raw, want := range said {
		if want["dns_wallet"] != nil || want["dns_site_adnl"] != nil {
			resolved++
		}
		for _, row := range w.rows("dns/records?domain="+fmt.Sprint(want["domain"]), "x", "records", "nft_item_address", []string{""}) {
			rows[fmt.Sprint(row["nft_item_address"])] = row
		}
		if rows[raw] == nil {
			w.Errorf("no record of %v", want["domain"])
		}
	}
	w.compareRows("dns/records", rows, said)
	if resolved == 0 {
		w.Error("no name has a record")
	}
	w.Logf("%d of %d names have a wallet or a site", resolved, len(items))
}

// records asks a name for all of its records.
func (w *town) records(raw string, want facts) error {
	result, err := w.call(raw, "dnsresolve", cell.BeginCell().MustStoreUInt(0, 8).EndCell().MustBeginParse(), new(big.Int))
	if err != nil {
		return err
	}
	for _, name := range strings.Fields("dns_wallet dns_next_resolver dns_site_adnl dns_storage_bag_id") {
		want[name] = nil
	}
	r := reading{ExecutionResult: result}
	root := r.cell(1)
	if r.err != nil || root == nil {
		return r.err
	}
	dict := root.AsDict(256)
	for category, read := range map[string]func(*cell.Slice) error{
		contracts.DNSCategoryWallet: func(s *cell.Slice) error {
			a, err := s.LoadAddr()
			want["dns_wallet"] = shown(a)
			return err
		},
		contracts.DNSCategoryNextResolver: func(s *cell.Slice) error {
			a, err := s.LoadAddr()
			want["dns_next_resolver"] = shown(a)
			return err
		},
		contracts.DNSCategorySite: func(s *cell.Slice) error {
			hash, err := s.LoadSlice(256)
			want["dns_site_adnl"] = hash64(hash)
			return err
		},
		contracts.DNSCategoryStorage: func(s *cell.Slice) error {
			hash, err := s.LoadSlice(256)
			want["dns_storage_bag_id"] = hash64(hash)
			return err
		},
	} {
		value, err := dict.LoadValueByIntKey(contracts.DNSIndex(category))
		if errors.Is(err, cell.ErrNoSuchKeyInDict) {
			continue
		}
		if err != nil {
			return err
		}
		if value.RefsNum() == 1 && value.BitsLeft() == 0 {
			if value, err = value.LoadRef(); err != nil {
				return err
			}
		}
		if _, err := value.LoadUInt(16); err != nil {
			return err
		}
		if err := read(value); err != nil {
			return fmt.Errorf("record %s of %s: %w", category, raw, err)
		}
	}
	return nil
}

// list is a dictionary of addresses as the API shows it, null for none.
func (r *reading) list(i uint) any {
	dict := r.cell(i)
	if dict == nil {
		return nil
	}
	entries, err := dict.AsDict(8).LoadAll()
	r.keep(err)
	type entry struct {
		at  uint64
		raw any
	}
	var all []entry
	for _, e := range entries {
		a, err := e.Value.LoadAddr()
		r.keep(err)
		all = append(all, entry{e.Key.MustLoadUInt(8), shown(a)})
	}
	slices.SortFunc(all, func(x, y entry) int { return int(x.at) - int(y.at) })
	shownAll := []any{}
	for _, e := range all {
		shownAll = append(shownAll, e.raw)
	}
	return shownAll
}

func (w *town) checkMultisigs() {
	w.checkList("multisig/wallets", "multisigs", w.ofKinds(contracts.MultisigCode), func(raw string) (facts, error) {
		result, err := w.call(raw, "get_multisig_data")
		if err != nil {
			return nil, err
		}
		r := reading{ExecutionResult: result}
		want := w.hashes(raw)
		want["next_order_seqno"], want["threshold"], want["signers"], want["proposers"] = r.decimal(0), r.count(1), r.list(2), r.list(3)
		if want["proposers"] == nil {
			want["proposers"] = []any{}
		}
		return want, r.err
	})
	w.checkList("multisig/orders", "orders", w.ofKinds(contracts.MultisigOrderCode), func(raw string) (facts, error) {
		result, err := w.call(raw, "get_order_data")
		if err != nil {
			return nil, err
		}
		r := reading{ExecutionResult: result}
		if empty, err := r.IsNil(2); err != nil || empty {
			return nil, err
		}
		want := w.hashes(raw)
		want["multisig_address"], want["order_seqno"], want["threshold"], want["sent_for_execution"] = r.address(0), r.decimal(1), r.count(2), r.flag(3)
		want["signers"], want["approvals_mask"], want["approvals_num"], want["expiration_date"] = r.list(4), r.decimal(5), r.count(6), r.count(7)
		if r.err != nil {
			return nil, r.err
		}
		confirmed, err := w.says(want["multisig_address"], "get_order_address", r.number(1))
		if err != nil || confirmed != raw {
			return nil, err
		}
		return want, nil
	})
}

func (w *town) checkVestings() {
	accounts := w.ofKinds(contracts.VestingCode)
	said := each(w, accounts, func(raw string) (facts, error) {
		result, err := w.call(raw, "get_vesting_data")
		if err != nil {
			return nil, err
		}
		r := reading{ExecutionResult: result}
		whitelist := []string{}
		if dict := r.cell(7); dict != nil {
			entries, err := dict.AsDict(264).LoadAll()
			r.keep(err)
			for _, e := range entries {
				key := e.Key
				workchain := int32(int8(key.MustLoadUInt(8)))
				whitelist = append(whitelist, rawOf(workchain, key.MustLoadSlice(256)))
			}
		}
		slices.Sort(whitelist)
		return facts{"start_time": r.count(0), "total_duration": r.count(1), "unlock_period": r.count(2), "cliff_duration": r.count(3),
			"total_amount": r.decimal(4), "sender_address": r.address(5), "owner_address": r.address(6), "whitelist": whitelist}, r.err
	})
	w.compareRows("vesting", w.rows("vesting", "contract_address", "vesting_contracts", "address", accounts), said)
}

// checkWallets compares seqnos and wallet ids with what wallets say themselves.
func (w *town) checkWallets() {
	found := w.kinds()
	for kind, accounts := range found {
		name, known := walletTypes[kind]
		rows := w.rows("walletStates", "address", "wallets", "address", accounts)
		said := each(w, accounts, func(raw string) (facts, error) {
			want := facts{"is_wallet": known || kind == "wallet_v5_beta" && rows[raw]["is_wallet"] == true, "balance": balanceOf(w, raw)}
			if !known {
				return want, nil
			}
			want["wallet_type"] = name
			if kind == "wallet_v1r1" {
				return want, nil // has no get-methods
			}
			for method, member := range map[string]string{"seqno": "seqno", "get_subwallet_id": "wallet_id"} {
				result, err := w.call(raw, method)
				if ignoreExit(err) != nil {
					return nil, err
				}
				if err == nil {
					r := reading{ExecutionResult: result}
					want[member] = r.count(0)
					if r.err != nil {
						return nil, r.err
					}
				}
			}
			return want, nil
		})
		w.compareRows("walletStates of "+kind, rows, said)
	}
}

func balanceOf(w *town, raw string) string {
	said := standing{root: w.accounts[raw].Account}
	if err := parseState(&said); err != nil {
		w.Error(err)
	}
	return said.state.Balance.Nano().String()
}

// checkTop walks the ranking to its end.
func (w *town) checkTop() {
	var total int
	last := new(big.Int).Lsh(big.NewInt(1), 64)
	seen := map[string]bool{}
	for offset := 0; ; offset += 1000 {
		var page []struct {
			Account string `json:"account"`
			Balance string `json:"balance"`
		}
		harness.GetJSON(w, fmt.Sprintf("%stopAccountsByBalance?limit=1000&offset=%d", w.api, offset), &page)
		for _, row := range page {
			balance, ok := new(big.Int).SetString(row.Balance, 10)
			if !ok || balance.Cmp(last) > 0 || seen[row.Account] {
				w.Errorf("%s with %s comes after %s, or twice", row.Account, row.Balance, last)
			}
			seen[row.Account] = true
			last = balance
			if w.accounts[row.Account] == nil && row.Balance != "0" {
				w.Errorf("%s does not exist and is ranked with %s", row.Account, row.Balance)
			} else if w.accounts[row.Account] != nil && balanceOf(w, row.Account) != row.Balance {
				w.Errorf("%s is ranked with %s, has %s", row.Account, row.Balance, balanceOf(w, row.Account))
			}
		}
		total += len(page)
		if len(page) == 0 {
			break
		}
	}
	for a := range w.accounts {
		if !seen[a] && balanceOf(w, a) != "0" {
			w.Errorf("%s with %s is not ranked", a, balanceOf(w, a))
		}
	}
	w.Logf("topAccountsByBalance: %d accounts", total)
}
