package render

import (
	"slices"
	"strings"

	"tonscribe/schema/record"
	"tonscribe/ton/token"
)

// Content appends token content as a map of texts, of which answers show those of
// token.Names (contract 4.7), null when there is none.
// domain, when not empty, is added to it.
func Content(dst []byte, content *record.TokenContent, domain string) []byte {
	if content == nil && domain == "" {
		return append(dst, "null"...)
	}
	var list []*record.TokenAttribute
	for _, a := range content.GetAttributes() {
		if slices.Contains(token.Names, a.Name) {
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
