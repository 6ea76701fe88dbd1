package render

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"tonscribe/schema/record"
)

// Document is what became of a link of a token's content.
type Document struct {
	// Valid is false when the document could not be had.
	Valid   bool
	Members map[string]json.RawMessage
}

// hashedName is the length of an attribute's name of which only the hash is
// known.
const hashedName = 64

// LinkOf is where a content's document is (TEP-64), empty for none.
func LinkOf(content *record.TokenContent) string {
	for _, a := range content.GetAttributes() {
		if a.Name == "uri" {
			return a.Value
		}
	}
	return ""
}

// Metadata appends an AddressMetadata (contract 3.2) of a token. A link that is
// not among the documents was not fetched yet.
func Metadata(dst []byte, c *record.Contract, documents map[string]Document) []byte {
	infos, indexed := []byte{'['}, true
	add := func(info []byte) {
		if len(infos) > 1 {
			infos = append(infos, ',')
		}
		infos = append(infos, info...)
	}
	if m := c.JettonMaster; m != nil {
		info, ok := tokenInfo("jetton_masters", m.Content, nil, documents)
		add(info)
		indexed = indexed && ok
	}
	if c.JettonWallet != nil {
		add(walletInfo(c))
	}
	if n := c.NftCollection; n != nil {
		info, ok := tokenInfo("nft_collections", n.Content, nil, documents)
		add(info)
		indexed = indexed && ok
	}
	if n := c.NftItem; n != nil {
		content := n.Content
		if domain := n.Dns.GetDomain(); domain != "" {
			content = &record.TokenContent{Attributes: append(slices.Clone(content.GetAttributes()), &record.TokenAttribute{Name: "domain", Value: domain})}
		}
		info, ok := tokenInfo("nft_items", content, Integer(nil, n.Index), documents)
		add(info)
		indexed = indexed && ok
	}
	o := open(dst)
	o.bool("is_indexed", indexed)
	o.key("token_info")
	o.dst = append(append(o.dst, infos...), ']')
	return o.close()
}

func walletInfo(c *record.Contract) []byte {
	o := open(nil)
	o.bool("valid", true)
	o.word("type", "jetton_wallets")
	o.key("extra")
	extra := open(o.dst)
	extra.amount("balance", c.JettonWallet.Balance)
	extra.addressIf("jetton", c.JettonWallet.Master)
	extra.addressIf("owner", c.JettonWallet.Owner)
	o.dst = extra.close()
	return o.close()
}

// tokenInfo is a TokenInfo of a token with content, and whether nothing is waited
// for.
func tokenInfo(kind string, content *record.TokenContent, index []byte, documents map[string]Document) (info []byte, indexed bool) {
	link := LinkOf(content)
	document, fetched := documents[link]
	o := open(nil)
	head := func() {
		o.word("type", kind)
	}
	tail := func() {
		if index != nil {
			o.word("nft_index", string(index))
		}
	}
	switch {
	case link != "" && !fetched:
		head()
		tail()
		return o.close(), false
	case link != "" && !document.Valid:
		o.bool("valid", false)
		head()
		tail()
		return o.close(), true
	}
	members := membersOf(content, document)
	o.bool("valid", true)
	head()
	for _, name := range []string{"name", "symbol", "description", "image"} {
		if v, ok := textOf(members[name]); ok && v != "" {
			o.text(name, v)
		}
		delete(members, name)
	}
	tail()
	o.bool("is_nsfw", false)
	o.bool("is_scam", false)
	if len(members) > 0 {
		o.key("extra")
		o.dst = extra(o.dst, members)
	}
	return o.close(), true
}

// membersOf joins a document and the content on the chain, which counts more.
// Names that only a hash stands for, and pictures themselves, are left out.
func membersOf(content *record.TokenContent, document Document) map[string]json.RawMessage {
	members := maps.Clone(document.Members)
	if members == nil {
		members = map[string]json.RawMessage{}
	}
	for _, a := range content.GetAttributes() {
		if len(a.Name) != hashedName && a.Name != "image_data" {
			members[a.Name] = Text(nil, a.Value)
		}
	}
	if v, ok := members["decimals"]; ok && len(v) > 0 && v[0] != '"' {
		members["decimals"] = Text(nil, string(v)) // a text always
	}
	return members
}

func textOf(raw json.RawMessage) (text string, ok bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	return text, json.Unmarshal(raw, &text) == nil
}

// extra appends members in the order of their names; texts, inside of lists and
// objects too, get the contract's escapes.
func extra(dst []byte, members map[string]json.RawMessage) []byte {
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(Text(dst, name), ':')
		if text, ok := textOf(members[name]); ok {
			dst = Text(dst, text)
		} else {
			var escaped bytes.Buffer
			json.HTMLEscape(&escaped, members[name])
			dst = append(dst, escaped.Bytes()...)
		}
	}
	return append(dst, '}')
}
