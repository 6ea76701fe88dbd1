package v2

import (
	"encoding/base64"
	"encoding/hex"

	"tonscribe/query/openapi"
)

type detectedHash struct {
	_         typed  `type:"ext.utils.detectedHash"`
	Base64    string `json:"b64"`
	Base64URL string `json:"b64url"`
	Hex       string `json:"hex"`
}

var detectHash = &Method{
	Name: "detectHash", Tag: tagUtils, Summary: "Detect hash form",
	Description: "All forms of a 256-bit value.",
	Params:      []Param{{Name: "hash", Kind: HashKind, Required: true, Description: "hex, base64 or base64url"}},
	Local:       true,
	Result:      openapi.TypeOf[detectedHash](),
	serve: func(c *call) (any, error) {
		h := c.hash("hash")
		return detectedHash{
			Base64:    base64.StdEncoding.EncodeToString(h[:]),
			Base64URL: base64.RawURLEncoding.EncodeToString(h[:]),
			Hex:       hex.EncodeToString(h[:]),
		}, nil
	},
}
