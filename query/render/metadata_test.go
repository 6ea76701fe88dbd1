package render_test

import (
	"encoding/json"
	"testing"

	"tonscribe/query/render"
	"tonscribe/schema/record"
)

// contentOf is a token content of pairs of name and value.
func contentOf(pairs ...string) *record.TokenContent {
	c := &record.TokenContent{}
	for i := 0; i < len(pairs); i += 2 {
		c.Attributes = append(c.Attributes, &record.TokenAttribute{Name: pairs[i], Value: pairs[i+1]})
	}
	return c
}

func documentOf(t *testing.T, text string) render.Document {
	t.Helper()
	d := render.Document{Valid: true}
	if err := json.Unmarshal([]byte(text), &d.Members); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestMetadataIsTheContentOnTheChainAndWhatItsDocumentAdds(t *testing.T) {
	const link, other = "https://a.site/1.json", "https://a.site/2.json"
	master := func(content *record.TokenContent) *record.Contract {
		return &record.Contract{JettonMaster: &record.JettonMaster{Content: content}}
	}
	documents := func(text string) map[string]render.Document {
		return map[string]render.Document{link: documentOf(t, text)}
	}
	address := append(make([]byte, 35), 7)
	const raw = "0:0000000000000000000000000000000000000000000000000000000000000007"
	for name, c := range map[string]struct {
		contract  *record.Contract
		documents map[string]render.Document
		want      string
	}{
		"all of it on the chain": {
			contract: master(contentOf("decimals", "6", "name", "Coin", "symbol", "C", "description", "A coin", "image", "https://a.site/c.png", "render_type", "x")),
			want: `{"is_indexed":true,"token_info":[{"valid":true,"type":"jetton_masters","name":"Coin","symbol":"C","description":"A coin","image":"https://a.site/c.png",` +
				`"is_nsfw":false,"is_scam":false,"extra":{"decimals":"6","render_type":"x"}}]}`,
		},
		"a document that is waited for": {
			contract: master(contentOf("uri", link, "name", "Coin")),
			want:     `{"is_indexed":false,"token_info":[{"type":"jetton_masters"}]}`,
		},
		"a document that cannot be had": {
			contract: master(contentOf("uri", link, "name", "Coin")), documents: map[string]render.Document{link: {}},
			want: `{"is_indexed":true,"token_info":[{"valid":false,"type":"jetton_masters"}]}`,
		},
		"all of it in the document": {
			contract: master(contentOf("uri", link)), documents: documents(`{"name":"Coin","symbol":"C","decimals":9,"social":["a",{"b":1}]}`),
			want: `{"is_indexed":true,"token_info":[{"valid":true,"type":"jetton_masters","name":"Coin","symbol":"C","is_nsfw":false,"is_scam":false,` +
				`"extra":{"decimals":"9","social":["a",{"b":1}],"uri":"https://a.site/1.json"}}]}`,
		},
		"the chain counts more than the document": {
			contract: master(contentOf("uri", link, "symbol", "C", "decimals", "6")), documents: documents(`{"name":"Coin","symbol":"WRONG","decimals":"9","uri":"https://b.site"}`),
			want: `{"is_indexed":true,"token_info":[{"valid":true,"type":"jetton_masters","name":"Coin","symbol":"C","is_nsfw":false,"is_scam":false,` +
				`"extra":{"decimals":"6","uri":"https://a.site/1.json"}}]}`,
		},
		"what is no text, a picture itself, a name that nobody knows": {
			contract:  master(contentOf("uri", link, "image_data", "AAAA", "3e860f41a5ea92c49803d6ec96d452693b6dcefb0e8c0bf0125b0e3debac5281", "x")),
			documents: documents(`{"name":7,"symbol":null,"image":{"a":1},"description":""}`),
			want:      `{"is_indexed":true,"token_info":[{"valid":true,"type":"jetton_masters","is_nsfw":false,"is_scam":false,"extra":{"uri":"https://a.site/1.json"}}]}`,
		},
		"decimals that are no number": {
			contract:  master(contentOf("uri", link)),
			documents: documents(`{"name":"Coin","decimals":null}`),
			want: `{"is_indexed":true,"token_info":[{"valid":true,"type":"jetton_masters","name":"Coin","is_nsfw":false,"is_scam":false,` +
				`"extra":{"uri":"https://a.site/1.json"}}]}`,
		},
		"decimals that are a list": {
			contract:  master(contentOf("uri", link)),
			documents: documents(`{"decimals":[9],"symbol":"C"}`),
			want: `{"is_indexed":true,"token_info":[{"valid":true,"type":"jetton_masters","symbol":"C","is_nsfw":false,"is_scam":false,` +
				`"extra":{"uri":"https://a.site/1.json"}}]}`,
		},
		"what browsers take for markup, wherever it is": {
			contract: master(contentOf("uri", link)), documents: documents("{\"name\":\"<b>\",\"attributes\":[{\"<i>\":\"a & b\u2028\"}],\"note\":\"</b>\"}"),
			want: `{"is_indexed":true,"token_info":[{"valid":true,"type":"jetton_masters","name":"\u003cb\u003e","is_nsfw":false,"is_scam":false,` +
				`"extra":{"attributes":[{"\u003ci\u003e":"a \u0026 b\u2028"}],"note":"\u003c/b\u003e","uri":"https://a.site/1.json"}}]}`,
		},
		"an item of a name": {
			contract: &record.Contract{NftItem: &record.NFTItem{Index: []byte{1, 0}, Content: contentOf("name", "Item"), Dns: &record.DNSName{Domain: "a.ton"}}},
			want: `{"is_indexed":true,"token_info":[{"valid":true,"type":"nft_items","name":"Item","nft_index":"256","is_nsfw":false,"is_scam":false,` +
				`"extra":{"domain":"a.ton"}}]}`,
		},
		"an item that is waited for": {
			contract: &record.Contract{NftItem: &record.NFTItem{Index: []byte{5}, Content: contentOf("uri", link)}},
			want:     `{"is_indexed":false,"token_info":[{"type":"nft_items","nft_index":"5"}]}`,
		},
		"two roles, one of them waited for": {
			contract:  &record.Contract{NftCollection: &record.NFTCollection{Content: contentOf("uri", link)}, NftItem: &record.NFTItem{Index: []byte{5}, Content: contentOf("uri", other)}},
			documents: documents(`{"name":"Cats"}`),
			want: `{"is_indexed":false,"token_info":[{"valid":true,"type":"nft_collections","name":"Cats","is_nsfw":false,"is_scam":false,` +
				`"extra":{"uri":"https://a.site/1.json"}},{"type":"nft_items","nft_index":"5"}]}`,
		},
		"a collection without content": {
			contract: &record.Contract{NftCollection: &record.NFTCollection{}},
			want:     `{"is_indexed":true,"token_info":[{"valid":true,"type":"nft_collections","is_nsfw":false,"is_scam":false}]}`,
		},
		"a jetton wallet": {
			contract: &record.Contract{JettonWallet: &record.JettonWallet{Balance: []byte{100}, Owner: address, Master: address}},
			want:     `{"is_indexed":true,"token_info":[{"valid":true,"type":"jetton_wallets","extra":{"balance":"100","jetton":"` + raw + `","owner":"` + raw + `"}}]}`,
		},
	} {
		if got := string(render.Metadata.Append(nil, render.TokensOf(c.contract, c.documents))); got != c.want {
			t.Errorf("%s: metadata is\n%s, want\n%s", name, got, c.want)
		}
	}
}
