package openapi

const base64Text = `^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`

func text(description, pattern string) Object {
	return Schema("type", "string", "description", description, "pattern", pattern)
}

// Patterns of what requests may send.
const (
	AnyAddress = `^(?:-?[0-9]+:[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{48})$`
	AnyHash    = `^(?:(?:0[xX])?[0-9a-fA-F]{64}|[A-Za-z0-9+/_-]{43}=?)$`
)

// forms are the schemas of the forms, components of the documents that use them.
var forms = map[string]Object{
	"Hash":     text("256 bits as base64", `^[A-Za-z0-9+/]{43}=$`),
	"Address":  text("address in raw form: workchain, colon, 64 hex digits in upper case", `^-?[0-9]+:[0-9A-F]{64}$`),
	"Friendly": text("address in the user-friendly form (TEP-2)", `^[A-Za-z0-9_-]{48}$`),
	"Decimal":  text("integer as a decimal text", `^-?[0-9]+$`),
	"Shard":    text("shard as hex, without 0x", `^[0-9A-F]{1,16}$`),
	"Opcode":   text("32 bits as hex", `^0x[0-9a-f]{8}$`),
	"BOC":      text("bag of cells as base64", base64Text).With("contentEncoding", "base64"),
	"Bytes":    text("bytes as base64", base64Text).With("contentEncoding", "base64"),
	"UnixTime": Schema("type", "integer", "description", "seconds since 1970", "minimum", 0, "maximum", 1<<32-1),
}
