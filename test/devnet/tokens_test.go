package devnet

import (
	"errors"
	"fmt"
	"strings"

	"github.com/xssnick/tonutils-go/ton/nft"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

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
