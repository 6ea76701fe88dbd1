package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// shard is the 64 bits of a shard, as hexadecimal digits.
type shard uint64

func (s *shard) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseUint(strings.Trim(string(text), `"`), 16, 64)
	if err != nil {
		return fmt.Errorf("%s is no shard", text)
	}
	*s = shard(v)
	return nil
}

func byCreation(list []*record.Message) {
	slices.SortStableFunc(list, func(a, b *record.Message) int { return cmp.Compare(a.CreatedLt, b.CreatedLt) })
}

// readInterfaces reads what the recording says of contracts, by their addresses and
// the names of interfaces.
func (r *Recorded) readInterfaces(all map[string]json.RawMessage) error {
	for text, of := range all {
		a, _, err := address.Parse(text)
		if err != nil {
			return fmt.Errorf("interfaces: %q: %w", text, err)
		}
		var interfaces map[string]json.RawMessage
		if err := unmarshal(of, &interfaces); err != nil {
			return fmt.Errorf(`interfaces: %s: %w such as {"JettonWallet":{"owner":…,"jetton":…}}`, text, err)
		}
		for name, value := range interfaces {
			fill := interfaceForms[name]
			if fill == nil || string(value) == "null" {
				continue
			}
			c := r.Contracts[string(a[:])]
			if c == nil {
				c = &record.Contract{Account: a[:]}
			}
			if err := fill(r, c, value); err != nil {
				return fmt.Errorf("interfaces: %s of %s: %w", name, text, err)
			}
			if name != "data_boc" {
				r.Contracts[string(a[:])] = c
			}
		}
	}
	return nil
}

// interfaceForms read the interfaces of a recording into a contract.
var interfaceForms = map[string]func(*Recorded, *record.Contract, json.RawMessage) error{
	"JettonWallet":  (*Recorded).readWallet,
	"NftItem":       (*Recorded).readItem,
	"NftSale":       (*Recorded).readSale,
	"NftAuction":    (*Recorded).readAuction,
	"DedustPool":    (*Recorded).readDedust,
	"MultisigOrder": (*Recorded).readOrder,
	"NominatorPool": (*Recorded).readNominator,
	"data_boc":      (*Recorded).readData,
}

func (r *Recorded) readWallet(c *record.Contract, text json.RawMessage) error {
	var f struct {
		Balance json.Number `json:"balance"`
		Owner   account     `json:"owner"`
		Jetton  account     `json:"jetton"`
	}
	if err := unmarshal(text, &f); err != nil {
		return err
	}
	balance, err := exact(f.Balance)
	c.JettonWallet = &record.JettonWallet{Balance: balance, Owner: f.Owner, Master: f.Jetton}
	return err
}

func (r *Recorded) readItem(c *record.Contract, text json.RawMessage) error {
	var f struct {
		Init       bool            `json:"init"`
		Index      json.Number     `json:"index"`
		Collection account         `json:"collection_address"`
		Owner      account         `json:"owner_address"`
		Content    json.RawMessage `json:"content"`
		CodeHash   hash            `json:"code_hash"`
	}
	if err := unmarshal(text, &f); err != nil {
		return err
	}
	index, err := exact(f.Index)
	c.NftItem = &record.NFTItem{Init: f.Init, Index: index, Collection: f.Collection, Owner: f.Owner, Content: contentOf(f.Content)}
	if f.CodeHash != nil {
		c.CodeHash = f.CodeHash
	}
	return err
}

// contentOf reads the content of a token where it is an object.
func contentOf(text json.RawMessage) *record.TokenContent {
	var content map[string]any
	if unmarshal(text, &content) != nil || content == nil {
		return nil
	}
	t := &record.TokenContent{Layout: record.TokenContent_SEMI_CHAIN}
	for name, v := range content {
		if s, ok := v.(string); ok {
			t.Attributes = append(t.Attributes, &record.TokenAttribute{Name: name, Value: s})
		}
	}
	slices.SortFunc(t.Attributes, func(a, b *record.TokenAttribute) int { return strings.Compare(a.Name, b.Name) })
	return t
}

func (r *Recorded) readSale(c *record.Contract, text json.RawMessage) error {
	var f struct {
		Complete    bool        `json:"is_complete"`
		Marketplace account     `json:"marketplace_address"`
		Item        account     `json:"nft_address"`
		Owner       account     `json:"nft_owner_address"`
		Price       json.Number `json:"full_price"`
	}
	if err := unmarshal(text, &f); err != nil {
		return err
	}
	price, err := exact(f.Price)
	c.Sale = &record.Sale{Complete: f.Complete, Marketplace: f.Marketplace, Item: f.Item, Owner: f.Owner, Price: price, Version: 1}
	return err
}

func (r *Recorded) readAuction(c *record.Contract, text json.RawMessage) error {
	var f struct {
		LastBid     json.Number `json:"last_bid"`
		Marketplace account     `json:"mp_addr"`
		Item        account     `json:"nft_addr"`
		Owner       account     `json:"nft_owner"`
	}
	if err := unmarshal(text, &f); err != nil {
		return err
	}
	bid, err := exact(f.LastBid)
	c.Auction = &record.Auction{Marketplace: f.Marketplace, Item: f.Item, Owner: f.Owner, LastBid: bid, Version: 1}
	return err
}

func (r *Recorded) readDedust(c *record.Contract, text json.RawMessage) error {
	var f struct {
		Assets []struct {
			IsTon   bool    `json:"is_ton"`
			Address account `json:"address"`
		} `json:"assets"`
	}
	if err := unmarshal(text, &f); err != nil {
		return err
	}
	c.DedustPool = &record.DedustPool{}
	for _, a := range f.Assets {
		c.DedustPool.Assets = append(c.DedustPool.Assets, a.Address)
	}
	return nil
}

func (r *Recorded) readOrder(c *record.Contract, text json.RawMessage) error {
	var f struct {
		Multisig account     `json:"multisig_address"`
		Seqno    json.Number `json:"order_seqno"`
		Signers  []account   `json:"signers"`
	}
	if err := unmarshal(text, &f); err != nil {
		return err
	}
	seqno, err := exact(f.Seqno)
	c.MultisigOrder = &record.MultisigOrder{Multisig: f.Multisig, Seqno: seqno}
	for _, s := range f.Signers {
		c.MultisigOrder.Signers = append(c.MultisigOrder.Signers, s)
	}
	return err
}

func (r *Recorded) readNominator(c *record.Contract, _ json.RawMessage) error {
	c.NominatorPool = &record.NominatorPool{}
	return nil
}

func (r *Recorded) readData(c *record.Contract, text json.RawMessage) error {
	var f struct {
		Data boc `json:"data_boc"`
	}
	if err := unmarshal(text, &f); err != nil {
		return err
	}
	r.Data[string(c.Account)] = f.Data
	return nil
}

// metadata is what an answer says of an account (v3, AddressMetadata).
type metadata struct {
	Tokens []struct {
		Type  string          `json:"type"`
		Index json.Number     `json:"nft_index"`
		Extra json.RawMessage `json:"extra"`
	} `json:"token_info"`
}

// readMetadata reads which accounts are tokens, where nothing else says it. An item's
// collection is not told.
func (r *Recorded) readMetadata(all map[string]metadata) error {
	for text, m := range all {
		a, _, err := address.Parse(text)
		if err != nil {
			return fmt.Errorf("metadata: %q: %w", text, err)
		}
		if r.Contracts[string(a[:])] != nil {
			continue
		}
		c := &record.Contract{Account: a[:]}
		for _, t := range m.Tokens {
			switch t.Type {
			case "jetton_wallets":
				err = r.readWallet(c, t.Extra)
			case "jetton_masters":
				c.JettonMaster = &record.JettonMaster{}
			case "nft_collections":
				c.NftCollection = &record.NFTCollection{}
			case "nft_items":
				c.NftItem = &record.NFTItem{Init: true}
				c.NftItem.Index, err = exact(t.Index)
			}
			if err != nil {
				return fmt.Errorf("metadata: %s of %s: %w", t.Type, text, err)
			}
		}
		r.Contracts[string(a[:])] = c
	}
	return nil
}
