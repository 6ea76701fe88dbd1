package render

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"tonscribe/query/api"
	"tonscribe/query/openapi"
	"tonscribe/schema/record"
)

// Document is what became of a link of a token's content.
type Document struct {
	// Valid is false when the document could not be had.
	Valid   bool
	Members map[string]json.RawMessage
}

// Texts is a member that is a text or a list of texts, nil where it is neither.
func (d Document) Texts(name string) (list []string) {
	if text, ok := textOf(d.Members[name]); ok {
		return []string{text}
	}
	if json.Unmarshal(d.Members[name], &list) != nil {
		return nil
	}
	return list
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

// TokenInfo is what is known of a token.
type TokenInfo struct {
	valid                            *bool // nil while the document is waited for
	kind                             string
	name, symbol, description, image string
	index                            []byte
	rated                            bool
	extra                            []byte // JSON
}

var yes, no = true, false

// kinds are those of tokens.
var kinds = api.Words{"jetton_masters", "jetton_wallets", "nft_collections", "nft_items"}

var tokenInfo = api.New("TokenInfo",
	api.BoolIf("valid", func(t *TokenInfo) *bool { return t.valid }).Optional().Doc("false when the document could not be read"),
	api.Word("type", kinds, func(t *TokenInfo) string { return t.kind }).Optional(),
	api.Text("name", func(t *TokenInfo) string { return t.name }).Optional(),
	api.Text("symbol", func(t *TokenInfo) string { return t.symbol }).Optional(),
	api.Text("description", func(t *TokenInfo) string { return t.description }).Optional(),
	api.Text("image", func(t *TokenInfo) string { return t.image }).Optional(),
	api.DecimalText("nft_index", func(t *TokenInfo) string { return string(t.index) }).Optional(),
	api.Bool("is_nsfw", func(*TokenInfo) bool { return false }).If(func(t *TokenInfo) bool { return t.rated }),
	api.Bool("is_scam", func(*TokenInfo) bool { return false }).If(func(t *TokenInfo) bool { return t.rated }),
	api.Written("extra", func(*openapi.Components) openapi.Object {
		return openapi.Schema("type", "object", "additionalProperties", openapi.Schema())
	}, func(w *api.Writer, t *TokenInfo) bool {
		w.JSON = append(w.JSON, t.extra...)
		return len(t.extra) > 0
	}).Optional(),
)

// Tokens is what is known of the token at an address.
type Tokens struct {
	waiting bool // for a document
	infos   []*TokenInfo
}

// Metadata is an entry of metadata.
var Metadata = api.New("AddressMetadata",
	api.Bool("is_indexed", func(t *Tokens) bool { return !t.waiting }).Doc("false while a document off the chain is waited for"),
	api.List("token_info", tokenInfo, func(t *Tokens) []*TokenInfo { return t.infos }, api.Same),
)

// TokensOf returns what is known of a token. A link that is not among the documents
// was not fetched yet.
func TokensOf(c *record.Contract, documents map[string]Document) *Tokens {
	t := &Tokens{}
	if m := c.JettonMaster; m != nil {
		t.add("jetton_masters", m.Content, nil, documents)
	}
	if c.JettonWallet != nil {
		t.infos = append(t.infos, &TokenInfo{valid: &yes, kind: "jetton_wallets", extra: walletExtra.Append(nil, c)})
	}
	if n := c.NftCollection; n != nil {
		t.add("nft_collections", n.Content, nil, documents)
	}
	if n := c.NftItem; n != nil {
		content := n.Content
		if domain := n.Dns.GetDomain(); domain != "" {
			content = &record.TokenContent{Attributes: append(slices.Clone(content.GetAttributes()), &record.TokenAttribute{Name: "domain", Value: domain})}
		}
		t.add("nft_items", content, api.AppendInteger(nil, n.Index), documents)
	}
	return t
}

var walletExtra = api.New("WalletExtra",
	api.Amount("balance", func(c contract) []byte { return c.JettonWallet.Balance }),
	api.Address("jetton", func(c contract) []byte { return c.JettonWallet.Master }).Optional(),
	api.Address("owner", func(c contract) []byte { return c.JettonWallet.Owner }).Optional(),
)

// add adds a token with content.
func (t *Tokens) add(kind string, content *record.TokenContent, index []byte, documents map[string]Document) {
	link := LinkOf(content)
	document, fetched := documents[link]
	info := &TokenInfo{kind: kind, index: index}
	t.infos = append(t.infos, info)
	switch {
	case link != "" && !fetched:
		t.waiting = true
		return
	case link != "" && !document.Valid:
		info.valid = &no
		return
	}
	info.valid, info.rated = &yes, true
	members := membersOf(content, document)
	for name, value := range map[string]*string{"name": &info.name, "symbol": &info.symbol, "description": &info.description, "image": &info.image} {
		*value, _ = textOf(members[name])
		delete(members, name)
	}
	if len(members) > 0 {
		info.extra = extra(nil, members)
	}
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
			members[a.Name] = api.AppendText(nil, a.Value)
		}
	}
	switch v := members["decimals"]; {
	case len(v) == 0 || v[0] == '"':
	case v[0] == '-' || v[0] >= '0' && v[0] <= '9':
		members["decimals"] = api.AppendText(nil, string(v)) // a text always
	default:
		delete(members, "decimals") // as if it said nothing
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
		dst = append(api.AppendText(dst, name), ':')
		if text, ok := textOf(members[name]); ok {
			dst = api.AppendText(dst, text)
		} else {
			var escaped bytes.Buffer
			json.HTMLEscape(&escaped, members[name])
			dst = append(dst, escaped.Bytes()...)
		}
	}
	return append(dst, '}')
}
