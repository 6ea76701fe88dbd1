package v2

import (
	"encoding/base64"
	"encoding/hex"

	"tonscribe/query/api"
)

// variantRow is an address in the user-friendly form with one of its flags.
type variantRow struct {
	*Address
	nonBounceable bool
}

var detectedVariant = api.Typed("DetectedVariant", "ext.utils.detectedAddressVariant",
	api.Text("b64", func(v variantRow) string { return v.friendly(v.nonBounceable, v.TestOnly, base64.StdEncoding) }),
	api.Text("b64url", func(v variantRow) string { return v.friendly(v.nonBounceable, v.TestOnly, base64.URLEncoding) }),
)

var anyAddress = []Param{addressParam("address in any form")}

// asked is the address of a request that asks no lite server.
func asked(c *call) (*Address, error) { return c.address("address"), nil }

var detectAddress = &Method{
	Name: "detectAddress", Tag: tagUtils, Summary: "Detect address form",
	Description: "All forms of an address. The flag for test networks of a user-friendly form is kept.",
	Params:      anyAddress, Local: true,
	Result: of(api.Typed("DetectedAddress", "ext.utils.detectedAddress",
		api.Text("raw_form", (*Address).lower),
		api.Object("bounceable", detectedVariant, func(a *Address) variantRow { return variantRow{a, false} }, nil),
		api.Object("non_bounceable", detectedVariant, func(a *Address) variantRow { return variantRow{a, true} }, nil),
		api.Word("given_type", api.Words{"raw_form", "friendly_bounceable", "friendly_non_bounceable"}, (*Address).givenType),
		api.Bool("test_only", func(a *Address) bool { return a.TestOnly }),
	), asked),
}

var packAddress = &Method{
	Name: "packAddress", Tag: tagUtils, Summary: "Pack address",
	Description: "The user-friendly form of an address, base64url. Flags of a user-friendly form are kept; a raw form becomes a bounceable one.",
	Params:      anyAddress, Local: true,
	Result: of(api.String, func(c *call) (string, error) { return c.address("address").packed(), nil }),
}

var unpackAddress = &Method{
	Name: "unpackAddress", Tag: tagUtils, Summary: "Unpack address",
	Description: "The raw form of an address, in upper-case hex.",
	Params:      anyAddress, Local: true,
	Result: of(api.String, func(c *call) (string, error) { return c.address("address").String(), nil }),
}

var detectHash = &Method{
	Name: "detectHash", Tag: tagUtils, Summary: "Detect hash form",
	Description: "All forms of a 256-bit value.",
	Params:      []Param{{Name: "hash", Kind: HashKind, Required: true, Description: "hex, base64 or base64url"}},
	Local:       true,
	Result: of(api.Typed("DetectedHash", "ext.utils.detectedHash",
		api.Text("b64", func(h [32]byte) string { return base64.StdEncoding.EncodeToString(h[:]) }),
		api.Text("b64url", func(h [32]byte) string { return base64.RawURLEncoding.EncodeToString(h[:]) }),
		api.Text("hex", func(h [32]byte) string { return hex.EncodeToString(h[:]) }),
	), func(c *call) ([32]byte, error) { return c.hash("hash"), nil }),
}
