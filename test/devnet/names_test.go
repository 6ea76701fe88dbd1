package devnet

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

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
