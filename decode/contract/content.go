package contract

import (
	"strings"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/ton/token"
)

var layouts = [...]record.TokenContent_Layout{
	token.OnChain: record.TokenContent_ON_CHAIN, token.OffChain: record.TokenContent_OFF_CHAIN, token.SemiChain: record.TokenContent_SEMI_CHAIN,
}

// content reads token content (TEP-64), false for what is none, and counts it
// when a limit ended that.
func (p *probe) content(c *cell.Cell) (*record.TokenContent, bool) {
	read, ok := token.Read(c)
	if read.Cut {
		p.findings.Cut++
	}
	if !ok {
		return nil, false
	}
	content := &record.TokenContent{Layout: layouts[read.Layout]}
	for _, a := range read.Attributes {
		content.Attributes = append(content.Attributes, &record.TokenAttribute{Name: a.Name, Value: text(a.Text)})
	}
	return content, true
}

// text is a text as a table and JSON take it.
func text(s string) string { return strings.ReplaceAll(s, "\x00", "") }
