package v3

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"tonscribe/query/api"
	"tonscribe/query/cache"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
	"tonscribe/ton/code"
)

var metadata = &Endpoint{
	Path: "/metadata", Tag: "Accounts", Summary: "Metadata",
	Description: "What is known of the tokens among some addresses, by raw address. The master of a jetton wallet is there too.",
	Params: []params.Param{
		{Name: "address", Kind: params.TextKind, Multi: true, Required: true, Range: "1..1024", Description: "addresses in any form; what is none is passed over"},
	},
	Result: unnamed(mapOf(render.Metadata)),
	Errors: []params.Error{{Status: 422, Text: "at least 1 address required"}},
	serve: func(q *request) error {
		sent := q.values.Texts("address")
		if len(sent) == 0 {
			return params.Unprocessable("at least 1 address required")
		}
		list := api.Book{}
		for _, text := range sent {
			if a, _, err := address.Parse(text); err == nil {
				list.Add(a[:])
			}
		}
		rows, err := q.metadataOf(q, list, nil, nil)
		q.body = append(q.body, rows...)
		return err
	},
}

// tokenRoles are what metadata tells of.
const tokenRoles = schema.RoleJettonMaster | schema.RoleJettonWallet | schema.RoleNFTCollection | schema.RoleNFTItem

// metadataOf is the object metadata of some addresses. Of some the contracts are known, and
// of all the entries, nil where they were not read yet.
func (q *answers) metadataOf(ctx context.Context, book api.Book, known map[address.Address]*record.Contract, entries map[address.Address]cache.Entry) ([]byte, error) {
	if q.noMetadata || len(book) == 0 {
		return []byte("{}"), nil
	}
	found, err := q.tokensAmong(ctx, book, known, entries)
	if err != nil {
		return nil, err
	}
	documents, err := q.documentsOf(ctx, found)
	if err != nil {
		return nil, err
	}
	list := slices.SortedFunc(maps.Keys(found), compareRaw)
	rows := []byte{'{'}
	for i, a := range list {
		if i > 0 {
			rows = append(rows, ',')
		}
		rows = append(rows, '"')
		rows = address.AppendRaw(rows, a[:])
		rows = append(rows, `":`...)
		rows = render.Metadata.Append(rows, render.TokensOf(found[a], documents))
	}
	return append(rows, '}'), nil
}

// tokensAmong are those of the addresses that are tokens, and the masters of the
// jetton wallets.
func (q *answers) tokensAmong(ctx context.Context, book api.Book, known map[address.Address]*record.Contract, entries map[address.Address]cache.Entry) (map[address.Address]*record.Contract, error) {
	found, wanted := map[address.Address]*record.Contract{}, api.Book{}
	var unknown []address.Address
	for a := range book {
		if a == api.Nobody {
			continue
		}
		if c := known[a]; c == nil {
			unknown = append(unknown, a)
		} else {
			found[a] = c
		}
	}
	if entries == nil {
		var err error
		if entries, err = q.store.Directory(ctx, unknown); err != nil {
			return nil, err
		}
	}
	for _, a := range unknown {
		if mayBeToken(entries[a]) {
			wanted[a] = struct{}{}
		}
	}
	addMasters(wanted, found, known)
	more, err := q.contracts(ctx, wanted)
	if err != nil {
		return nil, err
	}
	masters := api.Book{}
	addMasters(masters, more, found)
	for a := range wanted {
		delete(masters, a)
	}
	last, err := q.contracts(ctx, masters)
	if err != nil {
		return nil, err
	}
	maps.Copy(found, more)
	maps.Copy(found, last)
	for a, c := range found {
		if schema.RolesOf(c)&tokenRoles == 0 {
			delete(found, a)
		}
	}
	return found, nil
}

// addMasters adds the masters of jetton wallets that are not there.
func addMasters(wanted api.Book, wallets, there map[address.Address]*record.Contract) {
	for _, c := range wallets {
		if master := c.JettonWallet.GetMaster(); of(there, master) == nil && of(wallets, master) == nil {
			wanted.Add(master)
		}
	}
}

// tokenMethods are the get-methods one of which every token has.
var tokenMethods = []string{"get_jetton_data", "get_wallet_data", "get_collection_data", "get_nft_data"}

// mayBeToken is false for what cannot be a token by its code.
func mayBeToken(e cache.Entry) bool {
	if !e.Known {
		return true
	}
	if e.Code == nil {
		return false
	}
	if e.Code.Methods == nil {
		return !slices.ContainsFunc(e.Code.Interfaces, func(name string) bool { return strings.HasPrefix(name, "wallet_") })
	}
	return slices.ContainsFunc(tokenMethods, func(name string) bool { return code.HasMethods(e.Code.Methods, name) })
}

// documentsOf reads the documents behind the contents of tokens.
func (q *answers) documentsOf(ctx context.Context, found map[address.Address]*record.Contract) (map[string]render.Document, error) {
	var links []string
	for _, c := range found {
		for _, content := range []*record.TokenContent{c.JettonMaster.GetContent(), c.NftCollection.GetContent(), c.NftItem.GetContent()} {
			if link := render.LinkOf(content); link != "" {
				links = append(links, link)
			}
		}
	}
	if len(links) == 0 {
		return nil, nil
	}
	slices.Sort(links)
	read, err := q.store.Documents(ctx, slices.Compact(links))
	if err != nil {
		return nil, err
	}
	documents := make(map[string]render.Document, len(read))
	for link, d := range read {
		members := map[string]json.RawMessage{}
		valid := !d.Failed && json.NewDecoder(strings.NewReader(d.JSON)).Decode(&members) == nil
		documents[link] = render.Document{Valid: valid, Members: members}
	}
	return documents, nil
}
