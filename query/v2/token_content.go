package v2

import (
	"slices"

	"github.com/xssnick/tonutils-go/tvm/cell"

	tontoken "tonscribe/ton/token"
)

// onchainContent and offchainContent are the two forms of TEP-64.
type (
	onchainContent struct {
		Type string            `json:"type" enum:"onchain"`
		Data map[string]string `json:"data"`
	}
	offchainContent struct {
		Type string `json:"type" enum:"offchain"`
		Data string `json:"data"`
	}
)

// content is one of those or a domainContent.
type content any

var errNoURI = failed("missing uri field in offchain data")

// tokenContent reads content (TEP-64); nil when it has neither form. Attributes
// are shown whole or not at all.
func tokenContent(c *cell.Cell) (any, error) {
	read, ok := tontoken.Read(c)
	if !ok {
		return nil, nil
	}
	if read.Layout == tontoken.OffChain {
		switch uri := read.Attributes[0]; {
		case uri.Cut:
			return nil, nil
		case uri.Text == "":
			return nil, errNoURI
		default:
			return offchainContent{Type: "offchain", Data: uri.Text}, nil
		}
	}
	content := onchainContent{Type: "onchain", Data: map[string]string{}}
	for _, a := range read.Attributes {
		if slices.Contains(tontoken.Names, a.Name) && !a.Cut && !a.Bare {
			content.Data[a.Name] = a.Text
		}
	}
	return content, nil
}
