package v2

import (
	"encoding/base64"

	"tonscribe/query/openapi"
)

type detectedVariant struct {
	_         typed  `type:"ext.utils.detectedAddressVariant"`
	Base64    string `json:"b64"`
	Base64URL string `json:"b64url"`
}

type detectedAddress struct {
	_             typed           `type:"ext.utils.detectedAddress"`
	RawForm       string          `json:"raw_form"`
	Bounceable    detectedVariant `json:"bounceable"`
	NonBounceable detectedVariant `json:"non_bounceable"`
	GivenType     string          `json:"given_type" enum:"raw_form,friendly_bounceable,friendly_non_bounceable"`
	TestOnly      bool            `json:"test_only"`
}

var anyAddress = []Param{addressParam("address in any form")}

var detectAddress = &Method{
	Name: "detectAddress", Tag: tagUtils, Summary: "Detect address form",
	Description: "All forms of an address. The flag for test networks of a user-friendly form is kept.",
	Params:      anyAddress, Local: true,
	Result: openapi.TypeOf[detectedAddress](),
	serve: func(c *call) (any, error) {
		a := c.address("address")
		return detectedAddress{
			RawForm:       a.lower(),
			Bounceable:    variant(a, false),
			NonBounceable: variant(a, true),
			GivenType:     givenType(a),
			TestOnly:      a.TestOnly,
		}, nil
	},
}

func variant(a *Address, nonBounceable bool) detectedVariant {
	return detectedVariant{
		Base64:    a.friendly(nonBounceable, a.TestOnly, base64.StdEncoding),
		Base64URL: a.friendly(nonBounceable, a.TestOnly, base64.URLEncoding),
	}
}

func givenType(a *Address) string {
	switch {
	case !a.Friendly:
		return "raw_form"
	case a.NonBounceable:
		return "friendly_non_bounceable"
	}
	return "friendly_bounceable"
}

var packAddress = &Method{
	Name: "packAddress", Tag: tagUtils, Summary: "Pack address",
	Description: "The user-friendly form of an address, base64url. Flags of a user-friendly form are kept; a raw form becomes a bounceable one.",
	Params:      anyAddress, Local: true,
	Result: openapi.TypeOf[string](),
	serve:  func(c *call) (any, error) { return c.address("address").packed(), nil },
}

var unpackAddress = &Method{
	Name: "unpackAddress", Tag: tagUtils, Summary: "Unpack address",
	Description: "The raw form of an address, in upper-case hex.",
	Params:      anyAddress, Local: true,
	Result: openapi.TypeOf[string](),
	serve:  func(c *call) (any, error) { return c.address("address").upper(), nil },
}
