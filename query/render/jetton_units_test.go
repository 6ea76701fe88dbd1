package render

import (
	"encoding/json"
	"testing"

	"tonscribe/schema/record"
)

func TestDecimalsOfAJettonAreWaitedForWhereItsDocumentMayTellThem(t *testing.T) {
	content := func(attributes ...string) *record.Contract {
		c := &record.TokenContent{}
		for i := 0; i < len(attributes); i += 2 {
			c.Attributes = append(c.Attributes, &record.TokenAttribute{Name: attributes[i], Value: attributes[i+1]})
		}
		return &record.Contract{JettonMaster: &record.JettonMaster{Content: c}}
	}
	had := map[string]Document{"l": {Valid: true, Members: map[string]json.RawMessage{"decimals": json.RawMessage("6")}}}
	for what, c := range map[string]struct {
		of        *record.Contract
		documents map[string]Document
		want      Jetton
	}{
		"a document to come":                            {content("uri", "l"), nil, Jetton{Decimals: 9, Waits: true}},
		"another one's":                                 {content("uri", "k"), had, Jetton{Decimals: 9, Waits: true}},
		"one that cannot be had":                        {content("uri", "l"), map[string]Document{"l": {}}, Jetton{Decimals: 9, Assumed: true}},
		"one that cannot be had, decimals on the chain": {content("uri", "l", "decimals", "3"), map[string]Document{"l": {}}, Jetton{Decimals: 3}},
		"one that says nothing of them":                 {content("uri", "l"), map[string]Document{"l": {Valid: true}}, Jetton{Decimals: 9}},
		"one that was had":                              {content("uri", "l"), had, Jetton{Decimals: 6}},
		"one to come, decimals on the chain":            {content("uri", "l", "decimals", "3"), nil, Jetton{Decimals: 3}},
		"a whole number with a point":                   {content("decimals", "6.0"), nil, Jetton{Decimals: 6}},
		"no whole number":                               {content("decimals", "6.5"), nil, Jetton{Decimals: 9}},
		"more than 256 bits hold":                       {content("decimals", "78"), nil, Jetton{Decimals: 9}},
		"no document":                                   {content("symbol", "S"), nil, Jetton{Symbol: "S", Decimals: 9}},
	} {
		if got := JettonOf(c.of, c.documents); got != c.want {
			t.Errorf("%s: %+v, want %+v", what, got, c.want)
		}
	}
}
