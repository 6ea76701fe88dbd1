package render

import (
	"slices"
	"strings"

	"tonscribe/schema/record"
)

// contentNames are the attributes of token content (TEP-64) that answers show
// (contract 4.7), in the order of their text.
var contentNames = []string{"amount_style", "decimals", "description", "image", "image_data", "name", "render_type", "symbol", "uri"}

// Content appends token content as a map of texts, null when there is none.
// domain, when not empty, is added to it.
func Content(dst []byte, content *record.TokenContent, domain string) []byte {
	if content == nil && domain == "" {
		return append(dst, "null"...)
	}
	var list []*record.TokenAttribute
	for _, a := range content.GetAttributes() {
		if slices.Contains(contentNames, a.Name) {
			list = append(list, a)
		}
	}
	if domain != "" {
		list = append(list, &record.TokenAttribute{Name: "domain", Value: domain})
	}
	slices.SortFunc(list, func(a, b *record.TokenAttribute) int { return strings.Compare(a.Name, b.Name) })
	o := open(dst)
	for _, a := range list {
		o.text(a.Name, a.Value)
	}
	return o.close()
}
