package rows

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tonscribe/internal/clickhouse"
	"tonscribe/query/api"
	"tonscribe/query/cache"
	"tonscribe/query/render"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
	"tonscribe/ton/code"
)

// tokenRoles are what metadata tells of.
const tokenRoles = schema.RoleJettonMaster | schema.RoleJettonWallet | schema.RoleNFTCollection | schema.RoleNFTItem

// maxMetadataBytes bounds the object metadata: a document that many tokens share is written
// for each of them.
const maxMetadataBytes = 32 << 20

// MetadataOf is the object metadata of some addresses. Of some the contracts are known, and
// of all the entries, nil where they were not read yet.
func (r *Reader) MetadataOf(ctx context.Context, book api.Book, known map[address.Address]*record.Contract, entries map[address.Address]cache.Entry) ([]byte, error) {
	if r.NoMetadata || len(book) == 0 {
		return []byte("{}"), nil
	}
	found, err := r.tokensAmong(ctx, book, known, entries)
	if err != nil {
		return nil, err
	}
	documents, err := r.DocumentsOf(ctx, found)
	if err != nil {
		return nil, err
	}
	list := slices.SortedFunc(maps.Keys(found), CompareRaw)
	rows := []byte{'{'}
	for i, a := range list {
		if len(rows) > maxMetadataBytes {
			return nil, fmt.Errorf("%w: what is known of %d tokens has more than %d bytes", clickhouse.ErrTooHeavy, len(list), maxMetadataBytes)
		}
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
func (r *Reader) tokensAmong(ctx context.Context, book api.Book, known map[address.Address]*record.Contract, entries map[address.Address]cache.Entry) (map[address.Address]*record.Contract, error) {
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
		if entries, err = r.Store.Directory(ctx, unknown); err != nil {
			return nil, err
		}
	}
	for _, a := range unknown {
		if mayBeToken(entries[a]) {
			wanted[a] = struct{}{}
		}
	}
	addMasters(wanted, found, known)
	more, err := r.Contracts(ctx, wanted)
	if err != nil {
		return nil, err
	}
	masters := api.Book{}
	addMasters(masters, more, found)
	for a := range wanted {
		delete(masters, a)
	}
	last, err := r.Contracts(ctx, masters)
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
		if master := c.JettonWallet.GetMaster(); ContractAt(there, master) == nil && ContractAt(wallets, master) == nil {
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

// DocumentsOf reads the documents behind the contents of tokens.
func (r *Reader) DocumentsOf(ctx context.Context, found map[address.Address]*record.Contract) (map[string]render.Document, error) {
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
	read, err := r.Store.Documents(ctx, slices.Compact(links))
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
